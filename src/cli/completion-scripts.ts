// The completion scripts for bash, zsh and fish. Names of features come from folders, and bash expands the words that it offers. So
// only names of letters, digits, dots, dashes and underscores are offered.

export type CompletedOption = {
  flag: string
  meaning: string
  /** Null if the option takes no value; a list has the possible values, and is empty if they are not known. */
  value: null | 'file' | 'folder' | readonly string[]
}

export type CompletedCommand = {
  names: readonly string[]
  meaning: string
  /** What follows the command: a feature of the checkout, or one of these words. */
  words: 'features' | readonly string[]
  options: readonly CompletedOption[]
}

export function bashScript(commands: readonly CompletedCommand[]): string {
  const all = commands.flatMap(({ names }) => names)
  const cases = commands.map(({ names, words, options }) => {
    const offered = words === 'features' ? '$(_ralph_features)' : words.join(' ')
    return `    ${names.join('|')}) words="${offered}" options='${options.map(({ flag }) => flag).join(' ')}' ;;`
  })
  return `# bash completion of ralph: eval "$(ralph completion bash)" in ~/.bashrc
_ralph_features() {
  local folder
  for folder in .ralph/*/; do
    if [[ $folder =~ ^\\.ralph/[0-9-]{10}-([A-Za-z0-9._-]+)/$ ]]; then echo "\${BASH_REMATCH[1]}"; fi
  done
}
_ralph_offer() {
  local word
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen "$@")
}
_ralph() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command= words= options= word
  COMPREPLY=()
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [[ $word != -* ]]; then command=$word; break; fi
  done
  case $prev in
${bashValues(commands).join('\n')}
  esac
  case $command in
    '') words='${all.join(' ')}' options='--help --version' ;;
${cases.join('\n')}
  esac
  if [[ $cur == -* ]]; then _ralph_offer -W "$options" -- "$cur"; else _ralph_offer -W "$words" -- "$cur"; fi
}
complete -F _ralph ralph`
}

/** A case for all options that take the same kind of value. */
function bashValues(commands: readonly CompletedCommand[]): string[] {
  const cases = new Map<string, Set<string>>()
  const all = commands.flatMap(({ options }) => options)
  const bare = new Set(all.flatMap(({ flag, value }) => (value === null ? [flag] : [])))
  for (const { flag, value } of all) {
    // An option that takes a value in only some commands, such as --notify, may be followed by anything.
    if (value === null || bare.has(flag)) continue
    const flags = flag === '--directory' ? [flag, '-C'] : [flag]
    const known = cases.get(bashOffer(value)) ?? new Set()
    cases.set(bashOffer(value), known)
    for (const one of flags) known.add(one)
  }
  return [...cases].map(([offer, flags]) => `    ${[...flags].join('|')}) ${offer} ;;`)
}

function bashOffer(value: NonNullable<CompletedOption['value']>): string {
  if (value === 'file') return '_ralph_offer -f -- "$cur"; return'
  if (value === 'folder') return '_ralph_offer -d -- "$cur"; return'
  return value.length === 0 ? 'return' : `_ralph_offer -W '${value.join(' ')}' -- "$cur"; return`
}

export function zshScript(commands: readonly CompletedCommand[]): string {
  const list = commands.flatMap(({ names, meaning }) =>
    names.map((name) => `    ${singleQuoted(`${name}:${meaning.replaceAll(':', '\\:')}`)}`),
  )
  const cases = commands.map(({ names, words, options }) => {
    const completed =
      words === 'features' ? '_ralph_features' : words.length > 0 ? `(${words.join(' ')})` : ' '
    const specs = [...options.flatMap(zshSpecs), singleQuoted(`*::word:${completed}`)]
    return `    ${names.join('|')})\n      _arguments ${specs.join(' \\\n        ')} ;;`
  })
  return `#compdef ralph
# zsh completion of ralph: a file _ralph in a folder of $fpath, or source <(ralph completion zsh) after compinit in ~/.zshrc
_ralph_features() {
  setopt localoptions extendedglob
  local -a features
  features=(.ralph/*(N/:t))
  features=(\${(M)features:#[0-9](#c4)-[0-9](#c2)-[0-9](#c2)-[A-Za-z0-9._-]##})
  compadd -- \${features#[0-9-](#c10)-}
}
_ralph() {
  local -a subcommands
  subcommands=(
${list.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command subcommands
    return
  fi
  shift words
  (( CURRENT -= 1 ))
  case $words[1] in
${cases.join('\n')}
  esac
}
if [ "$funcstack[1]" = _ralph ]; then _ralph "$@"; else compdef _ralph ralph; fi`
}

function zshSpecs({ flag, meaning, value }: CompletedOption): string[] {
  const text = meaning.replaceAll(/[[\]:\\]/g, '\\$&')
  const flags = flag === '--directory' ? [flag, '-C'] : [flag]
  const completed = { file: ':file:_files', folder: ':folder:_files -/' }
  return flags.map((one) => {
    if (value === null) return singleQuoted(`${one}[${text}]`)
    if (value === 'file' || value === 'folder') return singleQuoted(`*${one}[${text}]${completed[value]}`)
    return singleQuoted(`*${one}[${text}]:value:${value.length === 0 ? ' ' : `(${value.join(' ')})`}`)
  })
}

export function fishScript(commands: readonly CompletedCommand[]): string {
  const first = commands.flatMap(({ names, meaning }) =>
    names.map((name) => `complete -c ralph -n __fish_use_subcommand -a ${name} -d ${fishText(meaning)}`),
  )
  const completed = commands.flatMap(({ names, words, options }) => {
    const when = `complete -c ralph -n ${fishText(`__fish_seen_subcommand_from ${names.join(' ')}`)}`
    const offered = words === 'features' ? '(__ralph_features)' : words.join(' ')
    return [
      ...(offered === '' ? [] : [`${when} -a ${fishText(offered)}`]),
      ...options.map((option) => `${when} ${fishOption(option)}`),
    ]
  })
  return `# fish completion of ralph: ralph completion fish > ~/.config/fish/completions/ralph.fish
function __ralph_features
  for folder in .ralph/*/
    string replace -rf '^\\.ralph/[0-9-]{10}-([A-Za-z0-9._-]+)/$' '$1' -- $folder
  end
end
complete -c ralph -f
${[...first, ...completed].join('\n')}`
}

function fishOption({ flag, meaning, value }: CompletedOption): string {
  const short = flag === '--directory' ? ' -s C' : ''
  const name = `-l ${flag.slice(2)}${short} -d ${fishText(meaning)}`
  if (value === null) return name
  if (value === 'file') return `${name} -r -F`
  if (value === 'folder') return `${name} -x -a '(__fish_complete_directories)'`
  return `${name} -x${value.length === 0 ? '' : ` -a ${fishText(value.join(' '))}`}`
}

/** For bash and zsh. */
function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

function fishText(text: string): string {
  return `'${text.replaceAll(/[\\']/g, '\\$&')}'`
}
