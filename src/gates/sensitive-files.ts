// Files with effects outside the code: on gates, on other services, on people's machines, on what reviewers see.
import ignore from 'ignore'

/** What changes of such files act on; `isReportOnly`: too common to be refused by a preset. */
export type SensitiveKind = { actsOn: string; isReportOnly: boolean }

/** Globs as in .gitignore, in any folder. The content is not judged: the same setting can be written in too many ways. */
const TABLE: { actsOn: string; files: string; isReportOnly?: true }[] = [
  {
    actsOn: 'what gates run: the shell, the options and the registries that package managers use',
    files:
      '.npmrc .yarnrc* .yarn/releases .yarn/plugins .pnp.* .pnpmfile.* .bunfig.toml bunfig.toml pip.conf .pypirc uv.toml .cargo/config .cargo/config.toml .mvn .bazelrc .gemrc .bundle/config nuget.config .Rprofile .Renviron',
  },
  {
    actsOn: 'the versions of tools that gates run with',
    files:
      '.nvmrc .node-version .tool-versions .python-version .ruby-version .go-version .java-version .sdkmanrc .terraform-version .prototools rust-toolchain rust-toolchain.toml mise.toml mise.*.toml .mise.toml .mise.*.toml mise/config*.toml .mise/config*.toml .config/mise.toml .config/mise global.json',
  },
  {
    actsOn: 'how GitHub shows a diff to reviewers, and how files merge',
    files: '.gitattributes',
  },
  {
    actsOn: 'the server that git takes large files from',
    files: '.lfsconfig',
  },
  {
    actsOn: 'the code that workflows run with their tokens',
    files: 'action.y*ml .github/scripts',
  },
  {
    actsOn: 'other services that build and deploy, with their own keys',
    files:
      '.circleci .gitlab-ci* .gitlab Jenkinsfile* azure-pipelines* .azure-pipelines .azuredevops .travis.yml bitbucket-pipelines.yml appveyor.y*ml .appveyor.y*ml .buildkite buildkite.y*ml .drone.* .woodpecker* .gitea .forgejo .cirrus.* .semaphore .teamcity .codefresh* .builds .build.yml wercker.yml cloudbuild*.* buildspec*.y*ml appspec.y*ml amplify.y*ml netlify.toml _redirects _headers vercel.json now.json fly.toml fly.*.toml render.y*ml railway.json railway.toml Procfile* /app.json /app.y*ml wrangler.toml wrangler.json* firebase.json .firebaserc heroku.y*ml nixpacks.toml .readthedocs.y*ml skaffold.y*ml .earthly serverless.y*ml serverless.json serverless.js serverless.ts cdk.json',
  },
  {
    actsOn: 'the machines of people who open the folder: editors, shells, debuggers and containers start it',
    files:
      '.devcontainer .devcontainer.json .vscode *.code-workspace .idea .fleet .zed .vs .nova *.sublime-project .exrc .nvimrc .nvim.lua .vimrc .lvimrc .dir-locals.el .envrc .gitpod.* .replit .codesandbox .idx devenv.nix shell.nix flake.nix .irbrc .pryrc .pdbrc* .ghci .gdbinit .lldbinit .iex.exs Vagrantfile',
  },
  {
    actsOn: 'bots that open, merge or judge pull requests',
    files:
      'renovate.json* .renovaterc* .github/*.yml .github/*.yaml .github/*.json* .mergify.yml .mergify .kodiak.toml bors.toml codecov.y*ml .codecov.y*ml .coderabbit.y*ml .pullapprove.yml .pyup.yml .snyk .sonarcloud.properties sonar-project.properties .codeclimate.yml .deepsource.toml .whitesource .imgbotconfig .allcontributorsrc .releaserc* release-please-config.json .changeset/config.json',
  },
  {
    actsOn: 'hooks of git on the machines of people',
    files:
      '.husky .huskyrc* lefthook*.* .lefthook* .pre-commit-config.y*ml .pre-commit-hooks.y*ml .githooks .git-hooks .simple-git-hooks.* simple-git-hooks.* .lintstagedrc* lint-staged.config.* .overcommit.yml captain-hook.*',
  },
  {
    actsOn: 'the containers that people and services build',
    files:
      'Dockerfile* *.Dockerfile Containerfile* docker-compose*.y*ml compose.y*ml compose.*.y*ml docker-bake.*',
    isReportOnly: true,
  },
]

const matcher = (files: string) =>
  ignore({ ignorecase: true, allowRelativePaths: true }).add(files.split(' '))
const ROWS = TABLE.map(({ actsOn, files, isReportOnly = false }) => ({
  row: { actsOn, isReportOnly },
  files: matcher(files),
}))
/** All globs in one matcher: most paths match none, so that one test is enough. */
const ANY = matcher(TABLE.map(({ files }) => files).join(' '))

/** The word in `protected-paths` that refuses all of them; a file with that name is written `/elsewhere`. */
export const PRESET = 'elsewhere'

/** What the file acts on, or null. `folded`: see the guard. */
export function sensitiveKindOf(folded: string): SensitiveKind | null {
  const path = folded.replace(/^\/+/, '')
  if (path === '' || !ANY.ignores(path)) return null
  return ROWS.find(({ files }) => files.ignores(path))?.row ?? null
}

const MAX_NAMED = 5
const MAX_NAME_LENGTH = 100

/** One line for each kind, with the first few files and the number of the others. */
export function formatSensitiveFiles(files: readonly { path: string; actsOn: string }[]): string[] {
  const kinds = [...new Set(files.map(({ actsOn }) => actsOn))]
  return kinds.map((actsOn) => {
    const all = files.filter((file) => file.actsOn === actsOn)
    const names = all.slice(0, MAX_NAMED).map(({ path }) => path.slice(0, MAX_NAME_LENGTH))
    if (all.length > names.length) names.push(`${all.length - names.length} more`)
    return `affects ${actsOn}: ${names.join(', ')}`
  })
}
