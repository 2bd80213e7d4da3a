export const id = 212;
export const ids = [212];
export const modules = {

/***/ 4389:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   HN: () => (/* binding */ moveClone),
/* harmony export */   W9: () => (/* binding */ takeSnapshot),
/* harmony export */   cp: () => (/* binding */ shareIndex),
/* harmony export */   pK: () => (/* binding */ putBack),
/* harmony export */   wL: () => (/* binding */ shareShallow)
/* harmony export */ });
/* harmony import */ var node_fs_promises__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(1455);
/* harmony import */ var node_path__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(6760);
/* harmony import */ var _system_files_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(1870);
/* harmony import */ var _git_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(5216);
// The user's clone: its branch, HEAD, index, refs, hooks and configuration are Ralph's to keep, whatever an agent did.




const FILES = [
    'config',
    'config.worktree',
    'info/exclude',
    'info/attributes',
    'info/grafts',
    'shallow',
    'objects/info/alternates',
];
/** Of a linked work tree; in the clone itself they would put another directory in its place. */
const OWN_FILES = ['commondir', 'gitdir', 'config.worktree'];
async function takeSnapshot(git, whole) {
    const { commonDir, gitDir } = git.clone;
    const files = new Map();
    // First of all: until they are gone, git looks elsewhere.
    for (const name of OWN_FILES)
        files.set((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(gitDir, name), await (0,_system_files_js__WEBPACK_IMPORTED_MODULE_2__/* .readRegular */ .VX)((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(gitDir, name)));
    for (const name of FILES)
        files.set((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(commonDir, name), await (0,_system_files_js__WEBPACK_IMPORTED_MODULE_2__/* .readRegular */ .VX)((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(commonDir, name)));
    // Where others work in the clone, too, they may pack refs.
    if (whole)
        files.set((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(commonDir, 'packed-refs'), await (0,_system_files_js__WEBPACK_IMPORTED_MODULE_2__/* .readRegular */ .VX)((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(commonDir, 'packed-refs')));
    const hooks = new Map();
    for (const name of await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_0__.readdir)((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(commonDir, 'hooks')).catch(() => [])) {
        const bytes = await (0,_system_files_js__WEBPACK_IMPORTED_MODULE_2__/* .readRegular */ .VX)((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(commonDir, 'hooks', name));
        if (bytes !== null)
            hooks.set(name, bytes);
    }
    const head = await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_0__.readFile)((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(git.clone.gitDir, 'HEAD'));
    return { whole, head, files, hooks, refs: whole ? await refsOf(git) : new Map() };
}
/** A fetch of ours may have cut the history elsewhere: the clone must know the same borders, or it calls itself broken. */
async function shareShallow(git, snapshot) {
    const borders = await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_0__.readFile)((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(git.shared, 'shallow')).catch(() => null);
    if (borders === null)
        return;
    await (0,_system_files_js__WEBPACK_IMPORTED_MODULE_2__/* .replaceFile */ .fR)((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(git.clone.commonDir, 'shallow'), borders);
    snapshot.files.set((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(git.clone.commonDir, 'shallow'), borders);
}
/** Undoes what an agent did to the clone beside the work tree. Cheap when nothing was done. */
async function putBack(git, snapshot) {
    const { gitDir } = git.clone;
    await putFilesBack(git, snapshot);
    const head = await (0,_system_files_js__WEBPACK_IMPORTED_MODULE_2__/* .readRegular */ .VX)((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(gitDir, 'HEAD'));
    if (head === null || !head.equals(snapshot.head))
        await (0,_system_files_js__WEBPACK_IMPORTED_MODULE_2__/* .replaceFile */ .fR)((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(gitDir, 'HEAD'), snapshot.head);
    await putRefsBack(git, snapshot);
}
/** What git reads before it looks at a ref: configuration, hooks, locks, and whatever stands in their place. */
async function putFilesBack(git, snapshot) {
    const { commonDir } = git.clone;
    for (const folder of ['refs', 'ralph'])
        await (0,_system_files_js__WEBPACK_IMPORTED_MODULE_2__/* .removeOdd */ .aB)((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(commonDir, folder));
    for (const name of ['packed-refs', 'index'])
        await removeOddFile((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(commonDir, name));
    // On a laptop a lock may be that of a git which is at work.
    if (snapshot.whole)
        for (const folder of [commonDir, git.shared])
            await removeLocks(folder);
    for (const [file, bytes] of snapshot.files) {
        const now = await (0,_system_files_js__WEBPACK_IMPORTED_MODULE_2__/* .readRegular */ .VX)(file);
        if (bytes === null)
            await removeAny(file);
        else if (now === null || !now.equals(bytes))
            await (0,_system_files_js__WEBPACK_IMPORTED_MODULE_2__/* .replaceFile */ .fR)(file, bytes);
    }
    const hooks = (0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(commonDir, 'hooks');
    for (const name of await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_0__.readdir)(hooks).catch(() => [])) {
        const wanted = snapshot.hooks.get(name);
        const now = await (0,_system_files_js__WEBPACK_IMPORTED_MODULE_2__/* .readRegular */ .VX)((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(hooks, name));
        if (wanted === undefined)
            await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_0__.rm)((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(hooks, name), { force: true, recursive: true });
        else if (now === null || !now.equals(wanted))
            await (0,_system_files_js__WEBPACK_IMPORTED_MODULE_2__/* .replaceFile */ .fR)((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(hooks, name), wanted);
    }
    await git.writeConfig();
}
/** A person may work in the same clone: on a laptop only Ralph's own refs are put back, the others are let be. */
async function putRefsBack(git, snapshot) {
    if (!snapshot.whole && snapshot.refs.size === 0)
        return;
    const now = await refsOf(git, snapshot.whole ? [] : [...snapshot.refs.keys()]);
    const lines = [];
    for (const [ref, oid] of snapshot.refs)
        if (now.get(ref) !== oid)
            lines.push(`update ${ref} ${oid}`);
    if (snapshot.whole)
        for (const ref of now.keys())
            if (!snapshot.refs.has(ref))
                lines.push(`delete ${ref}`);
    await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_0__.rm)((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(git.clone.gitDir, 'index.lock'), { force: true });
    await updateRefs(git, lines);
}
/** Moves the clone's branch to a commit, HEAD onto that branch, and the clone's index to ours: a clean checkout. */
async function moveClone(git, snapshot, branch, commit, mirrors) {
    const { gitDir } = git.clone;
    // `prepare` may have run since: git would go wherever it wrote. Refs are not touched but for the move itself.
    await putFilesBack(git, snapshot);
    const ref = `refs/heads/${branch}`;
    const wanted = [[ref, commit], ...mirrors];
    const lines = wanted
        .filter(([name, oid]) => snapshot.refs.get(name) !== oid)
        .map(([name, oid]) => `update ${name} ${oid}`);
    for (const [name] of wanted)
        await (0,_git_js__WEBPACK_IMPORTED_MODULE_3__/* .removeStaleLock */ .zF)((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(git.clone.commonDir, `${name}.lock`));
    await updateRefs(git, lines);
    for (const [name, oid] of wanted)
        snapshot.refs.set(name, oid);
    const head = Buffer.from(`ref: ${ref}\n`);
    snapshot.head = head;
    const now = await (0,_system_files_js__WEBPACK_IMPORTED_MODULE_2__/* .readRegular */ .VX)((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(gitDir, 'HEAD'));
    if (now === null || !now.equals(head))
        await (0,_system_files_js__WEBPACK_IMPORTED_MODULE_2__/* .replaceFile */ .fR)((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(gitDir, 'HEAD'), head);
    await shareIndex(git);
}
/** The clone's index becomes ours: what we checked out is clean for it, too. */
async function shareIndex(git) {
    const { gitDir } = git.clone;
    await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_0__.rm)((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(gitDir, 'index.lock'), { force: true });
    await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_0__.copyFile)((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(git.own, 'index'), (0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(gitDir, 'index.ralph')).then(() => (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_0__.rename)((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(gitDir, 'index.ralph'), (0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(gitDir, 'index')), () => { });
}
async function removeLocks(folder) {
    const refs = await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_0__.readdir)((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(folder, 'refs'), { recursive: true }).catch(() => []);
    const locks = refs.filter((name) => name.endsWith('.lock')).map((name) => (0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)('refs', name));
    for (const name of ['HEAD.lock', 'config.lock', 'packed-refs.lock', 'shallow.lock', ...locks])
        await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_0__.rm)((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(folder, name), { force: true, recursive: true });
}
async function removeAny(file) {
    if ((await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_0__.lstat)(file).catch(() => null)) !== null)
        await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_0__.rm)(file, { force: true, recursive: true });
}
/** Whatever stands there and is no file: git would open it and wait. */
async function removeOddFile(file) {
    const found = await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_0__.lstat)(file).catch(() => null);
    if (found !== null && !found.isFile())
        await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_0__.rm)(file, { force: true, recursive: true });
}
async function refsOf(git, patterns = []) {
    const listed = await git.onClone(['for-each-ref', '--format=%(objectname) %(refname)', ...patterns]);
    const refs = new Map();
    for (const line of listed.stdout.split('\n')) {
        const at = line.indexOf(' ');
        // A remote-tracking symref (origin/HEAD) follows its target by itself.
        if (at > 0 && !line.endsWith('/HEAD'))
            refs.set(line.slice(at + 1), line.slice(0, at));
    }
    return refs;
}
async function updateRefs(git, lines) {
    if (lines.length === 0)
        return;
    await git.onClone(['update-ref', '--stdin', '--no-deref'], { input: `${lines.join('\n')}\n` });
}


/***/ }),

/***/ 5216:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   OZ: () => (/* binding */ runPlain),
/* harmony export */   TU: () => (/* binding */ Git),
/* harmony export */   V0: () => (/* binding */ gitProgram),
/* harmony export */   XS: () => (/* binding */ GitError),
/* harmony export */   ok: () => (/* binding */ openClone),
/* harmony export */   zF: () => (/* binding */ removeStaleLock)
/* harmony export */ });
/* harmony import */ var node_child_process__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(1421);
/* harmony import */ var node_crypto__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(7598);
/* harmony import */ var node_fs_promises__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(1455);
/* harmony import */ var node_path__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(6760);
/* harmony import */ var _system_errors_js__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(94);
/* harmony import */ var _system_files_js__WEBPACK_IMPORTED_MODULE_5__ = __webpack_require__(1870);
/* harmony import */ var _system_program_js__WEBPACK_IMPORTED_MODULE_6__ = __webpack_require__(1453);
// Runs git with a directory, index and configuration of Ralph's own, so that nothing an agent wrote can steer it.







/** By PATH. Found before any agent runs, and kept: a folder that comes first may be the agent's to write. */
const programs = new Map();
/** The file of git, as it was found first. */
function gitProgram(path = '') {
    const known = programs.get(path) ?? (0,_system_program_js__WEBPACK_IMPORTED_MODULE_6__/* .findProgram */ .K)('git', path) ?? 'git';
    programs.set(path, known);
    return known;
}
class GitError extends Error {
    code;
    stderr;
    constructor(args, code, stderr) {
        super(`git ${args.find((arg) => !arg.startsWith('-')) ?? ''} failed (exit ${code}): ${stderr.trim()}`);
        this.name = 'GitError';
        this.code = code;
        this.stderr = stderr;
    }
}
/** Settings of the clone that change what `git add` and `git checkout` do with bytes and names. */
const KEPT_CONFIG = /^(core\.(autocrlf|eol|safecrlf|ignorecase|filemode|symlinks|precomposeunicode|protecthfs|protectntfs|longpaths|bigfilethreshold)|user\.(name|email)|extensions\.objectformat)$/;
/** Files beside the objects that say what commits and packs hold: whoever writes into .git could say otherwise. */
const UNBELIEVED = ['commitGraph', 'multiPackIndex'];
/** Environment of every git process: nothing of the runner's, no prompts, plain English. */
function plainEnv(env) {
    const kept = { LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0' };
    for (const name of [
        'PATH',
        'HOME',
        'USER',
        'LOGNAME',
        'TMPDIR',
        'TEMP',
        'SYSTEMROOT',
        'SSH_AUTH_SOCK',
        'XDG_CONFIG_HOME',
    ]) {
        const value = env[name];
        if (value !== undefined)
            kept[name] = value;
    }
    for (const [name, value] of Object.entries(env)) {
        if (/^(https?|all|no)_proxy$|^SSL_CERT_|^GIT_SSL_/i.test(name) && value !== undefined)
            kept[name] = value;
    }
    return kept;
}
/** For git on the clone's own configuration: a promisor that somebody wrote there would be run for a missing object. */
const NO_FETCH = { GIT_ALLOW_PROTOCOL: 'none', GIT_NO_LAZY_FETCH: '1' };
/** Settings of a clone that lacks objects. */
const PROMISED = /^(?:extensions\.partialclone|remote\..+\.promisor)$/s;
/** Reads what the clone is. Throws UserError where it is no repository that Ralph can work in. */
async function openClone(directory, env) {
    const run = (args, accept = []) => execute(['-c', 'safe.directory=*', ...args], {
        cwd: directory,
        env: { ...plainEnv(env), ...NO_FETCH },
        accept,
    });
    const found = await run(['rev-parse', '--is-bare-repository', '--absolute-git-dir', '--git-common-dir', '--show-toplevel'], [128]);
    if (found.code !== 0)
        throw notHere(directory, 'no git repository', 'run `git init`, commit once, and run again');
    const [bare = '', gitDir = '', commonDir = '', workTree = ''] = found.stdout.split('\n');
    if (bare === 'true' || workTree === '')
        throw notHere(directory, 'a bare repository', 'run in a checkout');
    const [head, branch, listed] = await Promise.all([
        run(['rev-parse', '--verify', '-q', 'HEAD^{commit}'], [1, 128]),
        run(['symbolic-ref', '-q', '--short', 'HEAD'], [1, 128]),
        run(['config', '--list', '-z', '--includes'], [1]),
    ]);
    const config = new Map();
    for (const entry of listed.stdout.split('\0')) {
        const at = entry.indexOf('\n');
        if (at > 0)
            config.set(entry.slice(0, at).toLowerCase(), entry.slice(at + 1));
    }
    if (config.get('core.sparsecheckout') === 'true') {
        throw notHere(directory, 'a sparse checkout', 'run `git sparse-checkout disable`: gates need the whole tree');
    }
    if ([...config].some(([key, value]) => PROMISED.test(key) && value !== 'false')) {
        throw notHere(directory, 'a partial clone', 'leave `filter` out of actions/checkout (here: `git fetch --refetch`, then `git config --unset` remote.<name>.promisor and remote.<name>.partialclonefilter): Ralph fetches nothing file by file');
    }
    return {
        workTree,
        gitDir,
        commonDir: (0,node_path__WEBPACK_IMPORTED_MODULE_3__.resolve)(directory, commonDir),
        branch: branch.code === 0 ? branch.stdout.trim() : null,
        head: head.code === 0 ? head.stdout.trim() : null,
        config,
    };
}
function notHere(directory, found, fix) {
    return new _system_errors_js__WEBPACK_IMPORTED_MODULE_4__/* .UserError */ .yo([{ path: directory, found, expected: 'a checkout with at least one commit', fix }]);
}
/** A way to a remote that takes longer is tried anew, milliseconds. */
const REMOTE_MS = 10 * 60_000;
/** A lock file that is older belongs to a git that is gone, milliseconds. */
const STALE_MS = 10_000;
/**
 * git, seen through Ralph's own directory `.git/ralph/git`; the objects are shared with the clone. Each linked work
 * tree has an index of its own (`own`); refs and configuration are one for all of them (`shared`), so that two runs
 * of one feature see each other.
 */
class Git {
    clone;
    own;
    shared;
    #env;
    #plain;
    /** Of our index as we left it; undefined before that. */
    #sealed;
    /** When that was, milliseconds. */
    #sealedAt = 0;
    /** The person's own ignore rules as they were when the job began. */
    #ignored = Buffer.alloc(0);
    constructor(clone, env) {
        this.clone = clone;
        this.own = (0,node_path__WEBPACK_IMPORTED_MODULE_3__.join)(clone.gitDir, 'ralph', 'git');
        this.shared = (0,node_path__WEBPACK_IMPORTED_MODULE_3__.join)(clone.commonDir, 'ralph', 'git');
        this.#plain = plainEnv(env);
        this.#env = {
            ...this.#plain,
            GIT_DIR: this.own,
            GIT_WORK_TREE: clone.workTree,
            GIT_OBJECT_DIRECTORY: (0,node_path__WEBPACK_IMPORTED_MODULE_3__.join)(clone.commonDir, 'objects'),
            GIT_CONFIG_NOSYSTEM: '1',
            GIT_CONFIG_GLOBAL: '/dev/null',
            GIT_ATTR_NOSYSTEM: '1',
            GIT_NO_REPLACE_OBJECTS: '1',
            GIT_LITERAL_PATHSPECS: '1',
        };
    }
    static async open(clone, env) {
        const git = new Git(clone, env);
        await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_2__.mkdir)(git.own, { recursive: true });
        await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_2__.mkdir)((0,node_path__WEBPACK_IMPORTED_MODULE_3__.join)(git.shared, 'refs'), { recursive: true });
        await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_2__.mkdir)((0,node_path__WEBPACK_IMPORTED_MODULE_3__.join)(git.shared, 'info'), { recursive: true });
        const rules = clone.config.get('core.excludesfile') ?? (0,node_path__WEBPACK_IMPORTED_MODULE_3__.join)(configHome(env), 'git', 'ignore');
        git.#ignored = await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_2__.readFile)(rules.replace(/^~(?=\/)/, env.HOME ?? '~')).catch(() => Buffer.alloc(0));
        await git.writeConfig();
        await removeStaleLocks(git.shared);
        return git;
    }
    /** Writes our directory's configuration anew: what anybody wrote there before is gone. */
    async writeConfig() {
        const { clone, own, shared } = this;
        const ignored = (0,node_path__WEBPACK_IMPORTED_MODULE_3__.join)(shared, 'info', 'ignored');
        const lines = [
            '[core]',
            '\trepositoryformatversion = 1',
            '\tbare = false',
            '\thooksPath = /dev/null',
            '\tfsmonitor = false',
            `\texcludesFile = ${quoted(ignored)}`,
        ];
        lines.push('\tfsync = loose-object,reference', '\tattributesFile = /dev/null', ...UNBELIEVED.map((name) => `\t${name} = false`), '[gc]', '\tauto = 0', '[maintenance]', '\tauto = false');
        lines.push('[protocol "ext"]', '\tallow = never', '[protocol "file"]', '\tallow = user', '[advice]', '\tdetachedHead = false');
        lines.push('[fetch]', '\trecurseSubmodules = false', '[submodule]', '\trecurse = false', '[commit]', '\tgpgSign = false');
        for (const [key, value] of clone.config) {
            if (!KEPT_CONFIG.test(key))
                continue;
            const [group = '', name = ''] = key.split('.');
            lines.push(`[${group}]`, `\t${name} = ${quoted(value)}`);
        }
        // A way to a remote that has gone silent is given up, and tried again by the caller.
        lines.push('[http]', '\tlowSpeedLimit = 1', '\tlowSpeedTime = 60');
        const exclude = await (0,_system_files_js__WEBPACK_IMPORTED_MODULE_5__/* .readRegular */ .VX)((0,node_path__WEBPACK_IMPORTED_MODULE_3__.join)(clone.commonDir, 'info', 'exclude'));
        const files = [
            [(0,node_path__WEBPACK_IMPORTED_MODULE_3__.join)(shared, 'config'), `${lines.join('\n')}\n`],
            [(0,node_path__WEBPACK_IMPORTED_MODULE_3__.join)(own, 'HEAD'), 'ref: refs/heads/ralph-unborn\n'],
            [(0,node_path__WEBPACK_IMPORTED_MODULE_3__.join)(shared, 'info', 'exclude'), exclude ?? ''],
            [ignored, this.#ignored],
            [(0,node_path__WEBPACK_IMPORTED_MODULE_3__.join)(shared, 'info', 'attributes'), ''],
        ];
        // What would lead our git elsewhere, or bend its history.
        const foreign = [(0,node_path__WEBPACK_IMPORTED_MODULE_3__.join)(shared, 'info', 'grafts'), (0,node_path__WEBPACK_IMPORTED_MODULE_3__.join)(own, 'config.worktree')];
        if (own === shared)
            foreign.push((0,node_path__WEBPACK_IMPORTED_MODULE_3__.join)(own, 'commondir'));
        for (const file of foreign)
            await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_2__.rm)(file, { force: true, recursive: true });
        // By the file, not by the environment: git looks for refs where the file says.
        if (own !== shared)
            files.push([(0,node_path__WEBPACK_IMPORTED_MODULE_3__.join)(own, 'commondir'), `${shared}\n`]);
        else
            await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_2__.rm)((0,node_path__WEBPACK_IMPORTED_MODULE_3__.join)(own, 'commondir'), { recursive: true, force: true });
        for (const name of ['grafts', 'sparse-checkout'])
            await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_2__.rm)((0,node_path__WEBPACK_IMPORTED_MODULE_3__.join)(shared, 'info', name), { recursive: true, force: true });
        for (const [file, text] of files)
            await writeOwn(file, text);
        const boundary = async (dir) => ((await (0,_system_files_js__WEBPACK_IMPORTED_MODULE_5__/* .readRegular */ .VX)((0,node_path__WEBPACK_IMPORTED_MODULE_3__.join)(dir, 'shallow')))?.toString('utf8') ?? '').split('\n').filter(Boolean);
        const shallow = new Set([...(await boundary(clone.commonDir)), ...(await boundary(shared))]);
        if (shallow.size > 0)
            await writeOwn((0,node_path__WEBPACK_IMPORTED_MODULE_3__.join)(shared, 'shallow'), `${[...shallow].join('\n')}\n`);
    }
    /** Folders that are from now on what ignored ones are: nothing of them is added or removed. */
    async ignore(folders) {
        if (folders.length === 0)
            return;
        const rules = folders.map((path) => `/${path.replace(/[\\*?[\] ]/g, '\\$&').replace(/\n/g, '?')}\n`);
        this.#ignored = Buffer.concat([this.#ignored, Buffer.from(`\n${rules.join('')}`)]);
        await this.writeConfig();
    }
    /** Runs git on our own directory. Throws GitError on an exit code that was not accepted. */
    run(args, options = {}) {
        return execute(args, {
            cwd: options.directory ?? this.clone.workTree,
            env: { ...this.#env, ...options.env },
            ...pick(options),
        });
    }
    /** The trimmed output of a command that must succeed. */
    async line(args, options = {}) {
        return (await this.run(args, options)).stdout.trim();
    }
    /** A git command with arguments and environment of our own directory, to be spawned by the caller. */
    environment() {
        return this.#env;
    }
    /** Runs git on the user's clone, for its refs only; hooks and configuration of the clone cannot run anything. */
    onClone(args, options = {}) {
        const env = {
            ...this.#plain,
            ...NO_FETCH,
            GIT_DIR: this.clone.gitDir,
            GIT_CONFIG_NOSYSTEM: '1',
            GIT_CONFIG_GLOBAL: '/dev/null',
            ...options.env,
        };
        const hard = ['hooksPath=/dev/null', 'fsmonitor=false', ...UNBELIEVED.map((name) => `${name}=false`)];
        return execute([...hard.flatMap((setting) => ['-c', `core.${setting}`]), ...args], {
            cwd: this.clone.workTree,
            env,
            ...pick(options),
        });
    }
    /** Runs a fetch or push against a remote, with its authentication in the environment, for ten minutes at most. */
    async onRemote(remote, args, options = {}) {
        // What a gate or a hook of `prepare` wrote there must not lead the authentication elsewhere.
        await this.writeConfig();
        return this.run(args, { timeoutMs: REMOTE_MS, ...options, env: { ...remote.env, ...options.env } });
    }
    /** Remembers our index, before control goes to somebody who may write it: flags and forged entries hide changes. */
    async sealIndex() {
        this.#sealed = await this.#indexDigest();
        this.#sealedAt = Date.now();
    }
    /** Where somebody wrote our index since then, it is made `tree` anew; every file is then read again. */
    async openIndex(tree, holdSame) {
        if (this.#sealed !== undefined && (await this.#indexDigest()) === this.#sealed)
            return;
        await this.unlock();
        await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_2__.rm)((0,node_path__WEBPACK_IMPORTED_MODULE_3__.join)(this.own, 'index'), { force: true, recursive: true });
        await this.run(['read-tree', tree]);
        const [wanted, made] = [await this.line(['rev-parse', `${tree}^{tree}`]), await this.treeOfIndex()];
        if (!(await holdSame(wanted, made)))
            throw new Error(`the clone is damaged: ${wanted} holds other files`);
        // Before any agent ran: from then on, whatever was written to since is read.
        if (this.#sealed === undefined)
            await this.run(['update-index', '-q', '--refresh'], { accept: [1] });
    }
    /** The bytes of our index. */
    readIndex() {
        return (0,_system_files_js__WEBPACK_IMPORTED_MODULE_5__/* .readRegular */ .VX)((0,node_path__WEBPACK_IMPORTED_MODULE_3__.join)(this.own, 'index'));
    }
    /**
     * The tree that our index holds, by its entries alone: what it remembers of folders came from objects that git
     * reads without a look at their hash.
     */
    treeOfIndex() {
        return this.line(['write-tree', '--ignore-cache-tree', '--missing-ok']);
    }
    /** Of all its bytes: git does not check the sum at its end. */
    async #indexDigest() {
        const bytes = await this.readIndex();
        return bytes === null ? null : (0,node_crypto__WEBPACK_IMPORTED_MODULE_1__.createHash)('sha256').update(bytes).digest('hex');
    }
    /** Our index, and when control was last given to somebody else. */
    async sealedIndex() {
        return { bytes: await this.readIndex(), at: this.#sealedAt };
    }
    /** Removes the lock files that a killed git of ours left. */
    async unlock() {
        await Promise.all(['index.lock', 'HEAD.lock', 'config.lock', 'shallow.lock'].map((name) => (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_2__.rm)((0,node_path__WEBPACK_IMPORTED_MODULE_3__.join)(this.own, name), { force: true })));
    }
}
/** Writes a file of ours where it does not stand already. */
async function writeOwn(file, text) {
    const wanted = Buffer.from(text);
    if ((await (0,_system_files_js__WEBPACK_IMPORTED_MODULE_5__/* .readRegular */ .VX)(file))?.equals(wanted) === true)
        return;
    await (0,_system_files_js__WEBPACK_IMPORTED_MODULE_5__/* .replaceFile */ .fR)(file, wanted);
}
function configHome(env) {
    return env.XDG_CONFIG_HOME ?? (0,node_path__WEBPACK_IMPORTED_MODULE_3__.join)(env.HOME ?? '/', '.config');
}
/** Removes the locks on refs that a git left which is gone (a power cut): nobody else would ever do it. */
async function removeStaleLocks(directory) {
    const entries = await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_2__.readdir)((0,node_path__WEBPACK_IMPORTED_MODULE_3__.join)(directory, 'refs'), { recursive: true }).catch(() => []);
    const locks = entries.filter((name) => name.endsWith('.lock')).map((name) => (0,node_path__WEBPACK_IMPORTED_MODULE_3__.join)('refs', name));
    for (const name of [...locks, 'packed-refs.lock'])
        await removeStaleLock((0,node_path__WEBPACK_IMPORTED_MODULE_3__.join)(directory, name));
}
async function removeStaleLock(file) {
    const found = await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_2__.lstat)(file).catch(() => null);
    if (found !== null && found.mtimeMs < Date.now() - STALE_MS)
        await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_2__.rm)(file, { force: true });
}
/** Runs git in a folder that is nobody's clone, with a remote's authentication. Gives its output. */
async function runPlain(args, directory, env, extra) {
    const hard = { ...plainEnv(env), GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', ...extra };
    return (await execute(args, { cwd: directory, env: hard })).stdout;
}
function pick(options) {
    return {
        ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
        ...(options.input === undefined ? {} : { input: options.input }),
        ...(options.accept === undefined ? {} : { accept: options.accept }),
    };
}
function quoted(value) {
    return `"${value.replace(/[\\"]/g, '\\$&').replace(/\n/g, '\\n')}"`;
}
/** A git of ours that takes longer waits for something that never comes, milliseconds. */
const LOCAL_MS = 15 * 60_000;
function execute(args, options) {
    return new Promise((done, fail) => {
        // A group of its own: Ctrl+C on a terminal must not end a git that is writing our state.
        const child = (0,node_child_process__WEBPACK_IMPORTED_MODULE_0__.spawn)(gitProgram(options.env.PATH), args, {
            cwd: options.cwd,
            env: options.env,
            stdio: ['pipe', 'pipe', 'pipe'],
            detached: true,
        });
        const out = [];
        const err = [];
        child.stdout.on('data', (chunk) => out.push(chunk));
        child.stderr.on('data', (chunk) => err.push(chunk));
        child.stdin.on('error', () => { }); // a git that ends early closes its input: the exit code tells
        let late = false;
        const timer = setTimeout(() => {
            late = true;
            try {
                if (child.pid !== undefined)
                    process.kill(-child.pid, 'SIGKILL');
            }
            catch {
                // It has ended just now.
            }
        }, options.timeoutMs ?? LOCAL_MS);
        child.on('error', (error) => {
            clearTimeout(timer);
            fail(new GitError(args, 127, error.message));
        });
        child.on('close', (code, signal) => {
            clearTimeout(timer);
            const why = late ? `no end in time` : `ended by ${signal}`;
            const stderr = Buffer.concat(err).toString('utf8') + (signal === null ? '' : why);
            const result = { code: late ? 124 : (code ?? 128), stdout: Buffer.concat(out).toString('utf8'), stderr };
            if (result.code === 0 || options.accept?.includes(result.code))
                done(result);
            else
                fail(new GitError(args, result.code, result.stderr));
        });
        child.stdin.end(options.input);
    });
}


/***/ }),

/***/ 1713:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   b: () => (/* binding */ STATE_FILE),
/* harmony export */   y: () => (/* binding */ createStore)
/* harmony export */ });
/* harmony import */ var node_timers_promises__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(8500);
/* harmony import */ var _loop_ports_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(7942);
/* harmony import */ var _system_errors_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(94);
/* harmony import */ var _clone_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(4389);
/* harmony import */ var _git_js__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(5216);
// State in git: one ref a feature, compare-and-swap locally and on the remote. Implements StorePort.





/** Pauses before a way to the remote is tried again, seconds: a minute in all (facts 3.5). */
const PAUSES_S = [0.25, 1, 3, 8, 16, 32];
/** The remote does not know this token (any more). */
const UNKNOWN = /(returned error:|HTTP) 401|could not read username|authentication failed|invalid username or/i;
/** The remote knows this token and says no: asking again changes nothing. */
const REFUSED = /(returned error:|HTTP) 40[34]|permission to .* denied|write access to repository not granted|repository .*not found/i;
/** How git ends when the way to a remote fails, or takes too long. */
const FAILED = [1, 124, 128];
const FOLDER = '.ralph-state';
/** Where the state stands in its commit. */
const STATE_FILE = `${FOLDER}/state.json`;
function createStore(git, objects, options) {
    const { remote, namespace, snapshot } = options;
    let known = null;
    let firstLook = true;
    const refOf = (folder) => `${namespace}/${folder.replace(/^\.ralph\//, '')}`;
    async function shallow() {
        return (await git.line(['rev-parse', '--is-shallow-repository'])) === 'true';
    }
    /** A lease holds from the last push on: whoever pushes lives. */
    function renewed(state) {
        if (state.lease === null)
            return state;
        return { ...state, lease: { ...state.lease, expiresAt: Date.now() + options.leaseMs } };
    }
    /** One commit that holds the state, on top of the last one, with the green commit reachable. */
    async function write(given, isSecond = false) {
        const state = renewed(given);
        const ref = refOf(state.folder);
        if (known?.ref !== ref)
            known = { ref, commit: null, green: null };
        // A new green commit comes first: against it the state commit only adds, also where people brought in a workflow that
        // changed at the base, which GitHub would refuse from an App's token.
        const parents = [known.green === state.green ? null : state.green, known.commit].filter((oid) => oid !== null);
        const tree = await objects.info(`${state.green}^{tree}`);
        if (tree === null)
            throw new Error(`the green commit ${state.green} is not in this clone`);
        const text = Buffer.from(`${JSON.stringify(state)}\n`);
        const about = state.attempt === null ? 'checkpoint' : `${state.attempt.storyId} in work`;
        const message = Buffer.from(`ralph: iteration ${state.prd.run.iterations}, ${about}\n`);
        const seconds = Math.floor(Date.now() / 1000);
        const lines = [
            `commit ${ref}\nmark :1\ncommitter Ralph <ralph@localhost> ${seconds} +0000\ndata ${message.length}\n`,
            message,
            ...parents.map((oid, index) => `${index === 0 ? 'from' : 'merge'} ${oid}\n`),
            // The green tree lies below the state, so that against its parent the commit only adds: one without
            // `.github/workflows` would read as their deletion, which GitHub refuses from an App's token (facts 3.4).
            `deleteall\nM 040000 ${tree.oid} \n`,
            `M 100644 inline ${FOLDER}/state.json\n`,
            `data ${text.length}\n`,
            text,
            '\n',
            ...Object.entries(state.kept).map(([id, kept]) => `M 040000 ${kept.base} ${FOLDER}/kept/${id}/base\nM 040000 ${kept.tree} ${FOLDER}/kept/${id}/work\n`),
            'get-mark :1\n',
        ];
        const input = Buffer.concat(lines.map((line) => (typeof line === 'string' ? Buffer.from(line) : line)));
        // fast-import moves the ref only forward from `known`: the local compare-and-swap.
        const made = await git.run(['fast-import', '--quiet', '--done', '--date-format=raw'], {
            input: Buffer.concat([input, Buffer.from('done\n')]),
            accept: [1],
        });
        if (made.code === 0)
            return made.stdout.trim();
        if ((await localRef(ref)) !== known.commit) {
            // Where there is a remote, its ref is the truth, and the push will tell: ours was moved by somebody in the clone.
            if (remote === null || isSecond)
                throw new _loop_ports_js__WEBPACK_IMPORTED_MODULE_1__/* .LeaseLost */ .V(`${ref} has moved`);
            await takeBack(ref, known.commit);
            return write(given, true);
        }
        throw new Error(`the state could not be written to ${ref}: ${made.stderr.trim()}`);
    }
    async function moveLocal(state, commit, withBranch) {
        const ref = refOf(state.folder);
        known = { ref, commit, green: state.green };
        // Before the first publish there is no branch: whatever ends the run until then leaves the clone as it was.
        // Until the job has looked at the branch, what people committed there is not ours to move.
        if (state.published === null || !(withBranch || state.job.opened))
            return;
        await (0,_clone_js__WEBPACK_IMPORTED_MODULE_3__/* .moveClone */ .HN)(git, snapshot, state.branch, state.green, [[ref, commit]]);
    }
    async function push(target, refs) {
        const args = ['push', '--porcelain', '--no-verify', '--no-follow-tags', '--recurse-submodules=no'];
        if (refs.length > 1)
            args.push('--atomic');
        for (const { ref, from } of refs)
            args.push(`--force-with-lease=${ref}:${from ?? ''}`);
        args.push(target.url, ...refs.map(({ ref, to }) => `${to}:${ref}`));
        let said = '';
        for (let tries = 0; tries <= PAUSES_S.length; tries++) {
            if (tries > 0)
                await pause(tries);
            const result = await git.onRemote(target, args, { accept: FAILED });
            if (result.code === 0)
                return { kind: 'pushed' };
            said = `${result.stdout}\n${result.stderr}`.trim();
            if (UNKNOWN.test(result.stderr))
                return { kind: 'unknown-token', said };
            if (REFUSED.test(result.stderr))
                return { kind: 'rejected', said };
            // The answer may be lost although the push was done: the remote itself is asked before anything is said.
            const now = await remoteRefs(target, refs.map(({ ref }) => ref)).catch(() => null);
            if (now === null)
                return { kind: 'rejected', said }; // a minute has been given to the question
            const left = refs.filter(({ ref, to }) => now.get(ref) !== to);
            if (left.length === 0)
                return { kind: 'pushed' };
            // A server that died between the refs has moved some: the rest is pushed alone.
            if (left.length < refs.length && left.every(({ ref, from }) => (now.get(ref) ?? null) === from))
                return push(target, left);
            const moved = refs.some(({ ref, from }) => (now.get(ref) ?? null) !== from);
            if (moved || /^!/m.test(result.stdout))
                return { kind: 'rejected', said };
        }
        return { kind: 'rejected', said };
    }
    /** A question to the remote, repeated when the way to it fails. */
    async function ask(target, args) {
        for (let tries = 1;; tries++) {
            const result = await git.onRemote(target, args, { accept: FAILED });
            if (result.code === 0)
                return result;
            const isFinal = UNKNOWN.test(result.stderr) || REFUSED.test(result.stderr);
            if (isFinal || tries > PAUSES_S.length)
                throw new _git_js__WEBPACK_IMPORTED_MODULE_4__/* .GitError */ .XS(args, result.code, result.stderr);
            await pause(tries);
        }
    }
    async function remoteRefs(target, patterns) {
        const listed = await ask(target, ['ls-remote', '--refs', target.url, ...patterns]);
        return new Map(listed.stdout
            .split('\n')
            .filter(Boolean)
            .map((line) => [line.slice(line.indexOf('\t') + 1), line.slice(0, line.indexOf('\t'))]));
    }
    /** The remote said no: the local ref goes back to what the remote has. */
    async function takeBack(ref, before) {
        await git.run(before === null ? ['update-ref', '-d', ref] : ['update-ref', ref, before]);
    }
    async function localRef(ref) {
        const found = await git.run(['rev-parse', '--verify', '-q', ref], { accept: [1, 128] });
        return found.code === 0 ? found.stdout.trim() : null;
    }
    /** The clone holds the states that were published once more: what our own directory lost is taken from there. */
    async function recoverRefs() {
        const form = '--format=%(refname) %(objectname)';
        const own = await git.line(['for-each-ref', '--format=%(refname)', `${namespace}/`]);
        const there = await git.onClone(['for-each-ref', form, `${namespace}/`]);
        const known = new Set(own.split('\n'));
        const lost = there.stdout
            .split('\n')
            .filter((line) => line !== '' && !known.has(line.split(' ')[0] ?? ''));
        if (lost.length === 0)
            return;
        await git.run(['update-ref', '--stdin'], { input: lost.map((line) => `create ${line}\n`).join('') });
    }
    async function has(commit) {
        return (await objects.info(`${commit}^{tree}`)) !== null;
    }
    const store = {
        async list() {
            if (remote === null)
                await recoverRefs();
            const listed = remote === null
                ? (await git.run(['for-each-ref', '--format=%(objectname)%09%(refname)', `${namespace}/`])).stdout
                : (await ask(remote, ['ls-remote', '--refs', remote.url, `${namespace}/*`])).stdout;
            const found = new Map();
            for (const line of listed.split('\n').filter(Boolean)) {
                const [oid = '', ref = ''] = line.split('\t');
                found.set(ref.slice(namespace.length + 1), oid);
            }
            return found;
        },
        async load(folder) {
            const ref = refOf(folder);
            if (remote !== null) {
                const at = (await remoteRefs(remote, [ref])).get(ref);
                if (at === undefined)
                    return null;
                await store.fetch([at], 'tip');
                await git.run(['update-ref', ref, at]);
            }
            const commit = await localRef(ref);
            if (commit === null)
                return null;
            const text = await objects.text(`${commit}:${STATE_FILE}`);
            if (text === null)
                throw new Error(`${ref} holds no ${STATE_FILE}`);
            const state = JSON.parse(text);
            known = { ref, commit, green: state.green };
            if (remote !== null && !(await has(state.green)))
                await store.fetch([state.green], 'tip');
            return { state, commit };
        },
        async head(branch) {
            const ref = `refs/heads/${branch}`;
            if (remote !== null)
                return (await remoteRefs(remote, [ref])).get(ref) ?? null;
            const found = await git.onClone(['rev-parse', '--verify', '-q', ref], { accept: [1, 128] });
            return found.code === 0 ? found.stdout.trim() : null;
        },
        async fetch(wanted, history) {
            if (remote === null)
                return;
            const missing = [];
            for (const oid of wanted)
                if (!(await has(oid)))
                    missing.push(oid);
            const cut = await shallow();
            if (missing.length === 0 && (history === 'tip' || !cut))
                return;
            const depth = !cut ? [] : history === 'tip' ? ['--depth=1'] : ['--unshallow'];
            const args = ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', ...depth, remote.url, ...wanted];
            await ask(remote, args);
            await (0,_clone_js__WEBPACK_IMPORTED_MODULE_3__/* .shareShallow */ .wL)(git, snapshot);
        },
        save: (state) => save(state, false),
        async publish(state, withBranch) {
            if (remote === null || !withBranch) {
                await save(withBranch ? { ...state, published: state.green } : state, withBranch);
                return { kind: 'published' };
            }
            const ref = refOf(state.folder);
            const branch = `refs/heads/${state.branch}`;
            const before = known?.ref === ref ? known.commit : null;
            const commit = await write({ ...state, published: state.green });
            const result = await push(options.publishRemote ?? remote, [
                { ref: branch, from: state.published, to: state.green },
                { ref, from: before, to: commit },
            ]);
            if (result.kind !== 'pushed') {
                await takeBack(ref, before);
                if (result.kind === 'unknown-token' && options.publishRemote !== null) {
                    return {
                        kind: 'expired',
                        reason: `the publish token is not known any more: ${refusal(result.said, branch)}`,
                    };
                }
                const now = await remoteRefs(remote, [branch, ref]);
                if ((now.get(ref) ?? null) !== before)
                    throw await whyRejected(state, before, result.said);
                const head = now.get(branch) ?? null;
                if (head === null || head === state.published)
                    return { kind: 'refused', reason: refusal(result.said, state.branch) };
                await store.fetch([head], 'whole');
                return { kind: 'diverged', theirs: head };
            }
            await moveLocal({ ...state, published: state.green }, commit, true);
            return { kind: 'published' };
        },
        async restore(state) {
            const ref = `refs/heads/${state.branch}`;
            if (remote === null)
                return { kind: 'published' }; // the next save moves it
            const result = await push(options.publishRemote ?? remote, [{ ref, from: null, to: state.green }]);
            if (result.kind === 'pushed')
                return { kind: 'published' };
            return { kind: 'refused', reason: refusal(result.said, state.branch) };
        },
        async theirs(state) {
            if (remote === null) {
                if (!firstLook)
                    return null;
                firstLook = false;
            }
            const head = await store.head(state.branch);
            if (head === null)
                return state.published === null ? null : 'gone';
            if (head === state.green || head === state.published)
                return null;
            await store.fetch([head], 'whole');
            return { head };
        },
    };
    return store;
    async function save(state, withBranch) {
        const before = known?.ref === refOf(state.folder) ? known.commit : null;
        const commit = await write(state);
        if (remote !== null) {
            const result = await push(remote, [{ ref: refOf(state.folder), from: before, to: commit }]);
            if (result.kind !== 'pushed') {
                await takeBack(refOf(state.folder), before);
                throw await whyRejected(state, before, result.said);
            }
        }
        await moveLocal(state, commit, withBranch);
    }
    async function whyRejected(state, before, said) {
        const ref = refOf(state.folder);
        const now = remote === null ? null : await remoteRefs(remote, [ref]).catch(() => null);
        if (now !== null && (now.get(ref) ?? null) !== before)
            return new _loop_ports_js__WEBPACK_IMPORTED_MODULE_1__/* .LeaseLost */ .V(`${ref} moved`);
        if (REFUSED.test(said) || UNKNOWN.test(said)) {
            const fix = 'give the job permissions: contents: write (and do not protect refs/ralph/*)';
            return new _system_errors_js__WEBPACK_IMPORTED_MODULE_2__/* .UserError */ .yo([
                { path: 'input token', found: refusal(said, ref), expected: 'a token that may push', fix },
            ]);
        }
        return new Error(`the state could not be pushed to ${ref}: ${refusal(said, ref)}`);
    }
}
/** What the remote said, in one line; hints and progress left out. */
function refusal(said, what) {
    const lines = said.split('\n').map((line) => line.replace(/^remote:\s*/, '').trim());
    const telling = lines.find((line) => /refus|denied|protect|permission|error:|fatal:|declined|403|401/i.test(line));
    return `${what} was not accepted: ${telling ?? lines.find((line) => line !== '') ?? 'no reason was given'}`;
}
/** Before the given try; the first is 0. */
function pause(tries) {
    return (0,node_timers_promises__WEBPACK_IMPORTED_MODULE_0__.setTimeout)((PAUSES_S[tries - 1] ?? 0) * 1000);
}


/***/ }),

/***/ 612:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   _7: () => (/* binding */ expired),
/* harmony export */   ap: () => (/* binding */ sayHolder),
/* harmony export */   zT: () => (/* binding */ leaseMs)
/* harmony export */ });
/** A lease is over when its time has passed; before that only the platform or the process table can say. */
function expired(lease, now) {
    return lease.expiresAt <= now;
}
/** How long a lease holds without a renewal: an iteration, its gates, and ten minutes (design 6), milliseconds. */
function leaseMs(iterationTimeoutMs, gatesMs) {
    return iterationTimeoutMs + gatesMs + 10 * 60_000;
}
/** The holder in words: `run 123 (https://…)` or `process 42 on host`. */
function sayHolder(lease) {
    if (lease.runId !== null)
        return lease.url === null ? `run ${lease.runId}` : `run ${lease.runId} (${lease.url})`;
    return `process ${lease.pid} on ${lease.host}`;
}


/***/ }),

/***/ 1870:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   Bq: () => (/* binding */ clearWay),
/* harmony export */   VX: () => (/* binding */ readRegular),
/* harmony export */   _W: () => (/* binding */ openUp),
/* harmony export */   aB: () => (/* binding */ removeOdd),
/* harmony export */   fR: () => (/* binding */ replaceFile),
/* harmony export */   lQ: () => (/* binding */ isFolder),
/* harmony export */   vJ: () => (/* binding */ insideTree),
/* harmony export */   vO: () => (/* binding */ redactFiles)
/* harmony export */ });
/* harmony import */ var node_fs__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(3024);
/* harmony import */ var node_fs_promises__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(1455);
/* harmony import */ var node_path__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(6760);
// Files in places that are not ours alone: an agent may have put a pipe, a link or a folder where a file is expected.



/** A file's bytes, or null for anything else: a pipe would be read for ever, a link leads elsewhere. */
async function readRegular(file) {
    const found = await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_1__.lstat)(file).catch(() => null);
    if (found?.isFile() !== true)
        return null;
    // Whatever has taken its place meanwhile: nobody waits for it.
    const handle = await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_1__.open)(file, node_fs__WEBPACK_IMPORTED_MODULE_0__.constants.O_RDONLY | node_fs__WEBPACK_IMPORTED_MODULE_0__.constants.O_NOFOLLOW | node_fs__WEBPACK_IMPORTED_MODULE_0__.constants.O_NONBLOCK).catch(() => null);
    if (handle === null)
        return null;
    try {
        return (await handle.stat()).isFile() ? await handle.readFile() : null;
    }
    finally {
        await handle.close();
    }
}
/** Puts a file in its place in one move: whoever dies here leaves the old one or the new one, whole. */
async function replaceFile(file, bytes) {
    const fresh = `${file}.ralph`;
    await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_1__.rm)(fresh, { force: true, recursive: true });
    const handle = await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_1__.open)(fresh, 'wx');
    try {
        await handle.writeFile(bytes);
        await handle.sync();
    }
    finally {
        await handle.close();
    }
    await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_1__.rename)(fresh, file).catch(async () => {
        // A folder stands in its place.
        await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_1__.rm)(file, { force: true, recursive: true });
        await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_1__.rename)(fresh, file);
    });
}
/** Makes the way to a file free: real folders below `root`, and nothing but a regular file at its end. */
async function clearWay(root, file) {
    let at = root;
    for (const part of (0,node_path__WEBPACK_IMPORTED_MODULE_2__.relative)(root, (0,node_path__WEBPACK_IMPORTED_MODULE_2__.dirname)(file)).split(node_path__WEBPACK_IMPORTED_MODULE_2__.sep).filter(Boolean)) {
        at = (0,node_path__WEBPACK_IMPORTED_MODULE_2__.join)(at, part);
        const found = await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_1__.lstat)(at).catch(() => null);
        if (found !== null && !found.isDirectory())
            await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_1__.rm)(at, { force: true });
        if (found === null || !found.isDirectory())
            await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_1__.mkdir)(at, { recursive: true });
    }
    const found = await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_1__.lstat)(file).catch(() => null);
    if (found !== null && !found.isFile())
        await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_1__.rm)(file, { force: true, recursive: true });
}
/**
 * Where a path of the work tree is; null where something above it is no folder: a link there leads elsewhere, and what
 * it leads to is not ours to look at, or to remove. `seen` spares a caller with many paths the same questions.
 */
async function insideTree(top, path, seen = new Map()) {
    let at = top;
    for (const part of path.split('/').filter(Boolean).slice(0, -1)) {
        at = (0,node_path__WEBPACK_IMPORTED_MODULE_2__.join)(at, part);
        const known = seen.get(at) ?? isFolder(at);
        seen.set(at, known);
        if (!(await known))
            return null;
    }
    return (0,node_path__WEBPACK_IMPORTED_MODULE_2__.join)(top, path);
}
/** A folder itself, and no link to one. */
async function isFolder(path) {
    return (await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_1__.lstat)(path).catch(() => null))?.isDirectory() === true;
}
/** Gives the owner back what is his: an agent may have closed folders. Links are not followed. */
async function openUp(folder) {
    const found = await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_1__.lstat)(folder).catch(() => null);
    if (found?.isDirectory() !== true)
        return;
    if ((found.mode & 0o700) !== 0o700)
        await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_1__.chmod)(folder, found.mode | 0o700).catch(() => { });
    const inside = await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_1__.readdir)(folder, { withFileTypes: true }).catch(() => []);
    for (const one of inside)
        if (one.isDirectory() && one.name !== '.git')
            await openUp((0,node_path__WEBPACK_IMPORTED_MODULE_2__.join)(folder, one.name));
}
/** Removes pipes, sockets and devices below a folder: whoever opens one may wait for ever. */
async function removeOdd(folder) {
    const entries = await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_1__.readdir)(folder, { recursive: true, withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
        if (entry.isFile() || entry.isDirectory() || entry.isSymbolicLink())
            continue;
        await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_1__.rm)((0,node_path__WEBPACK_IMPORTED_MODULE_2__.join)(entry.parentPath, entry.name), { force: true });
    }
}
/** Longer files are no text of ours, bytes. */
const TEXT_LIMIT = 64 * 1024 * 1024;
/** Makes what lies below a folder fit to be given away: texts are redacted, and whatever is no file is removed. */
async function redactFiles(folder, redact) {
    if ((await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_1__.lstat)(folder).catch(() => null))?.isDirectory() !== true)
        return;
    for (const entry of await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_1__.readdir)(folder, { recursive: true, withFileTypes: true })) {
        if (entry.isDirectory())
            continue;
        const file = (0,node_path__WEBPACK_IMPORTED_MODULE_2__.join)(entry.parentPath, entry.name);
        const found = await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_1__.lstat)(file).catch(() => null);
        const bytes = found !== null && found.size <= TEXT_LIMIT ? await readRegular(file) : null;
        if (bytes === null) {
            await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_1__.rm)(file, { force: true });
            continue;
        }
        const text = bytes.toString('utf8');
        const clean = redact(text);
        if (clean !== text)
            await replaceFile(file, clean);
    }
}


/***/ }),

/***/ 1453:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   K: () => (/* binding */ findProgram)
/* harmony export */ });
/* harmony import */ var node_fs__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(3024);
/* harmony import */ var node_path__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(6760);
// Looks a program up as a shell would, in the absolute folders of a PATH alone.


/** The first executable file of this name in the absolute folders of `path`, or null. */
function findProgram(program, path) {
    const directories = program.includes('/')
        ? ['']
        : path.split(node_path__WEBPACK_IMPORTED_MODULE_1__.delimiter).filter((entry) => (0,node_path__WEBPACK_IMPORTED_MODULE_1__.isAbsolute)(entry));
    for (const directory of directories) {
        const file = (0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(directory, program);
        try {
            (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.accessSync)(file, node_fs__WEBPACK_IMPORTED_MODULE_0__.constants.X_OK);
            if ((0,node_fs__WEBPACK_IMPORTED_MODULE_0__.statSync)(file).isFile())
                return file;
        }
        catch {
            // not here
        }
    }
    return null;
}


/***/ })

};
