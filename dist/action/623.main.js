export const id = 623;
export const ids = [623];
export const modules = {

/***/ 6623:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   answerComment: () => (/* binding */ answerComment)
/* harmony export */ });
/* harmony import */ var _actions_core__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(3218);
/* harmony import */ var _git_features_js__WEBPACK_IMPORTED_MODULE_7__ = __webpack_require__(8317);
/* harmony import */ var _github_client_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(1666);
/* harmony import */ var _github_conversation_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(7692);
/* harmony import */ var _github_dispatch_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(2437);
/* harmony import */ var _loop_lease_js__WEBPACK_IMPORTED_MODULE_9__ = __webpack_require__(612);
/* harmony import */ var _loop_slash_commands_js__WEBPACK_IMPORTED_MODULE_6__ = __webpack_require__(6373);
/* harmony import */ var _report_replies_js__WEBPACK_IMPORTED_MODULE_8__ = __webpack_require__(7542);
/* harmony import */ var _context_js__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(6354);
/* harmony import */ var _peek_js__WEBPACK_IMPORTED_MODULE_5__ = __webpack_require__(1307);
// The run that a comment started: acknowledges, answers what needs no work, and dispatches if nobody works.










/** What was done, in one line for the log. Never throws for what the comment says. */
async function answerComment(context) {
    const { event, place } = context;
    if (event.kind !== 'comment')
        return 'no comment';
    const { comment, issue } = event;
    if ((0,_loop_slash_commands_js__WEBPACK_IMPORTED_MODULE_6__/* .parseSlash */ .d)(comment.body, []).kind === 'none')
        return 'the comment is not for Ralph';
    if (!(0,_github_conversation_js__WEBPACK_IMPORTED_MODULE_2__/* .isPerson */ .K)(comment))
        return 'commands count from people only';
    if (!event.onPull)
        return 'commands count on a pull request only';
    const api = (0,_github_client_js__WEBPACK_IMPORTED_MODULE_1__/* .createClient */ .UU)({
        token: (0,_context_js__WEBPACK_IMPORTED_MODULE_4__/* .tokenOf */ .B9)(context),
        url: place.api,
        warn: (message) => _actions_core__WEBPACK_IMPORTED_MODULE_0__/* .warning */ .$e(message),
    });
    const conversation = (0,_github_conversation_js__WEBPACK_IMPORTED_MODULE_2__/* .createConversation */ .c)(api, place, (message) => _actions_core__WEBPACK_IMPORTED_MODULE_0__/* .warning */ .$e(message));
    const { owner, repo } = place;
    const { data: pull } = await api.rest.pulls.get({ owner, repo, pull_number: issue });
    const ours = pull.head.repo?.full_name === `${owner}/${repo}`;
    const { branchPrefix: prefix, stateNamespace } = await (0,_context_js__WEBPACK_IMPORTED_MODULE_4__/* .namesByApi */ .C9)(context, api);
    const states = ours ? await (0,_peek_js__WEBPACK_IMPORTED_MODULE_5__/* .peekStates */ .o)(context, stateNamespace) : new Map();
    const state = [...states]
        .filter(([folder, one]) => one.branch === pull.head.ref && (0,_git_features_js__WEBPACK_IMPORTED_MODULE_7__/* .featureOfFolder */ .wH)(folder) !== null)
        .at(-1)?.[1] ?? null;
    if (!ours || (state === null && !pull.head.ref.startsWith(prefix)))
        return "the pull request is none of Ralph's";
    if (!(await conversation.mayWrite(comment.login))) {
        await conversation.react(comment.id, 'confused');
        return `${comment.login} has no write permission`;
    }
    const own = state?.github.pull ?? issue;
    if (own !== issue) {
        await conversation.react(comment.id, 'confused');
        await conversation.reply(issue, comment.id, (0,_report_replies_js__WEBPACK_IMPORTED_MODULE_8__/* .elsewhereReply */ .P1)(own));
        return `the commands of this run are read in #${own}`;
    }
    const ids = state?.prd.userStories.map((story) => story.id) ?? [];
    const parsed = (0,_loop_slash_commands_js__WEBPACK_IMPORTED_MODULE_6__/* .parseSlash */ .d)(comment.body, ids);
    switch (parsed.kind) {
        case 'none':
            return 'the comment is not for Ralph';
        case 'help':
            await conversation.reply(issue, comment.id, (0,_report_replies_js__WEBPACK_IMPORTED_MODULE_8__/* .helpReply */ .wc)());
            await conversation.react(comment.id, 'rocket');
            return 'answered with the list of commands';
        case 'mistake':
            if (working(state))
                return 'the working job answers';
            await conversation.react(comment.id, 'confused');
            await conversation.reply(issue, comment.id, (0,_report_replies_js__WEBPACK_IMPORTED_MODULE_8__/* .mistakeReply */ .nd)(parsed.problem, parsed.fix));
            return parsed.problem;
        case 'status':
            await conversation.react(comment.id, 'rocket');
            return 'the summary on the pull request shows how it stands';
        case 'command': {
            await conversation.react(comment.id, 'eyes');
            if (state === null)
                return 'there is no run of this feature yet: start it with Run workflow';
            const lives = working(state) && (await holderLives(api, context, state));
            if (lives && parsed.command.kind !== 'stop')
                return 'the working job hears it before its next iteration';
            if (lives && state.lease?.runId != null) {
                await api.rest.actions
                    .cancelWorkflowRun({ owner, repo, run_id: state.lease.runId })
                    .catch((error) => _actions_core__WEBPACK_IMPORTED_MODULE_0__/* .warning */ .$e((0,_github_client_js__WEBPACK_IMPORTED_MODULE_1__/* .saidByGitHub */ .C9)(error)));
            }
            // A job that is being stopped moves the generation on, or is killed before: only a kick-off fits both.
            const generation = lives ? null : state.generation;
            const next = await (0,_github_dispatch_js__WEBPACK_IMPORTED_MODULE_3__/* .dispatchRun */ .e)(api, place, context.workflow, { feature: state.feature, generation });
            return `dispatched${next === null ? '' : ` run ${next}`}`;
        }
    }
}
function working(state) {
    return state?.lease != null && !(0,_loop_lease_js__WEBPACK_IMPORTED_MODULE_9__/* .expired */ ._7)(state.lease, Date.now());
}
async function holderLives(api, context, state) {
    const { owner, repo } = context.place;
    if (state.lease?.runId == null)
        return false;
    const run = await api.rest.actions
        .getWorkflowRun({ owner, repo, run_id: state.lease.runId })
        .catch((error) => {
        _actions_core__WEBPACK_IMPORTED_MODULE_0__/* .warning */ .$e(`run ${state.lease?.runId} could not be looked up: ${(0,_github_client_js__WEBPACK_IMPORTED_MODULE_1__/* .saidByGitHub */ .C9)(error)}`);
        return null;
    });
    return run === null || run.data.status !== 'completed';
}


/***/ }),

/***/ 1307:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   o: () => (/* binding */ peekStates)
/* harmony export */ });
/* harmony import */ var node_fs_promises__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(1455);
/* harmony import */ var node_os__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(8161);
/* harmony import */ var node_path__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(6760);
/* harmony import */ var _git_git_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(5216);
/* harmony import */ var _git_store_js__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(1713);
/* harmony import */ var _context_js__WEBPACK_IMPORTED_MODULE_5__ = __webpack_require__(6354);
// Reads states from the remote without a checkout: what a comment's run needs to know, and nothing more.






/** Every feature's state by folder name. Fetches one commit a feature, into a folder that is removed again. */
async function peekStates(context, namespace) {
    const remote = (0,_context_js__WEBPACK_IMPORTED_MODULE_5__/* .remoteOf */ .e1)(context.place, (0,_context_js__WEBPACK_IMPORTED_MODULE_5__/* .tokenOf */ .B9)(context));
    const directory = await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_0__.mkdtemp)((0,node_path__WEBPACK_IMPORTED_MODULE_2__.join)(context.env.RUNNER_TEMP ?? (0,node_os__WEBPACK_IMPORTED_MODULE_1__.tmpdir)(), 'ralph-peek-'));
    const git = (args) => (0,_git_git_js__WEBPACK_IMPORTED_MODULE_3__/* .runPlain */ .OZ)(args, directory, context.env, remote.env);
    try {
        await git(['init', '-q', '--bare', '.']);
        await git(['fetch', '-q', '--depth=1', '--no-tags', remote.url, `+${namespace}/*:refs/peek/*`]);
        const refs = await git(['for-each-ref', '--format=%(refname)', 'refs/peek/']);
        const states = new Map();
        for (const ref of refs.split('\n').filter(Boolean).sort()) {
            const text = await git(['show', `${ref}:${_git_store_js__WEBPACK_IMPORTED_MODULE_4__/* .STATE_FILE */ .b}`]).catch(() => null);
            if (text === null)
                continue; // a ref of somebody else's
            const state = JSON.parse(text);
            states.set(ref.slice('refs/peek/'.length), state);
        }
        return states;
    }
    finally {
        await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_0__.rm)(directory, { recursive: true, force: true });
    }
}


/***/ }),

/***/ 8317:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   CV: () => (/* binding */ isPrdPath),
/* harmony export */   VN: () => (/* binding */ newestOfEach),
/* harmony export */   Vb: () => (/* binding */ nameOf),
/* harmony export */   pB: () => (/* binding */ ELSEWHERE),
/* harmony export */   wH: () => (/* binding */ featureOfFolder),
/* harmony export */   yS: () => (/* binding */ folderOf)
/* harmony export */ });
/** Where other tools put it; such a file is moved into `.ralph/<date>-<feature>/` by the first commit. */
const ELSEWHERE = ['.ralph/prd.json', 'ralph/prd.json', 'prd.json', 'scripts/ralph/prd.json'];
const FOLDER = /^\.ralph\/(\d{4}-\d{2}-\d{2})-([^/]+)$/;
/** The feature's name of a dated folder (`.ralph/2026-01-31-auth` or without `.ralph/`), or null. */
function featureOfFolder(folder) {
    return FOLDER.exec(folder.startsWith('.ralph/') ? folder : `.ralph/${folder}`)?.[2] ?? null;
}
/** True for paths that may hold a feature's stories. */
function isPrdPath(path) {
    return (ELSEWHERE.includes(path) ||
        (path.endsWith('/prd.json') && FOLDER.test(path.slice(0, -'/prd.json'.length))));
}
/** The dated folder of a prd path, or null where it stands elsewhere. */
function folderOf(path) {
    const folder = path.slice(0, -'/prd.json'.length);
    return FOLDER.test(folder) ? folder : null;
}
/** What a prd.json outside a dated folder is called: by its branch, else by its project. */
function nameOf(prd, branchPrefix) {
    const { branchName, project } = prd;
    if (branchName !== '') {
        const bare = branchName.startsWith(branchPrefix)
            ? branchName.slice(branchPrefix.length)
            : (branchName.split('/').at(-1) ?? '');
        if (bare !== '')
            return slug(bare);
    }
    return slug(project) || 'feature';
}
/** The newest folder of each name; a file elsewhere counts where no dated folder has its name. */
function newestOfEach(found) {
    const sorted = [...found].sort((one, other) => (other.folder ?? '').localeCompare(one.folder ?? ''));
    const names = new Map();
    for (const feature of sorted)
        if (!names.has(feature.name))
            names.set(feature.name, feature);
    return [...names.values()];
}
function slug(text) {
    return text
        .toLowerCase()
        .replace(/[^a-z0-9._-]+/g, '-')
        .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '')
        .slice(0, 60);
}


/***/ }),

/***/ 7692:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   K: () => (/* binding */ isPerson),
/* harmony export */   c: () => (/* binding */ createConversation)
/* harmony export */ });
/* harmony import */ var _loop_slash_commands_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(6373);
/* harmony import */ var _report_replies_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(7542);
/* harmony import */ var _client_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(1666);



function createConversation(api, place, warn) {
    const { owner, repo } = place;
    /** For one reading of the comments: a permission may be taken away while a job works for hours. */
    const permissions = new Map();
    let etag = null;
    let self = null;
    /** Whose token this is: an App's or a person's may speak in the place of the job's own. */
    async function login() {
        self ??= await api.graphql('{ viewer { login } }').then(({ viewer }) => viewer.login, () => 'github-actions[bot]');
        return self;
    }
    /** Our own comment that begins with a marker; in anybody else's a marker means nothing. */
    async function own(pull, marker) {
        const listing = api.paginate.iterator(api.rest.issues.listComments, {
            owner,
            repo,
            issue_number: pull,
            per_page: 100,
        });
        for await (const { data } of listing) {
            const marked = data.filter((one) => (one.body ?? '').startsWith(marker));
            const me = marked.length === 0 ? null : await login();
            const mine = marked.find((one) => one.user?.login === me);
            if (mine !== undefined)
                return Number(mine.id);
        }
        return null;
    }
    /** Posts a comment; after an unknown answer it is looked up by its marker before it is posted once more. */
    async function say(pull, marker, body) {
        for (let isLast = false;; isLast = true) {
            try {
                const made = await api.rest.issues.createComment({ owner, repo, issue_number: pull, body, ..._client_js__WEBPACK_IMPORTED_MODULE_0__/* .ONCE */ .ET });
                return Number(made.data.id);
            }
            catch (error) {
                if (!(0,_client_js__WEBPACK_IMPORTED_MODULE_0__/* .isUnknown */ .t8)(error))
                    throw error;
                const there = await own(pull, marker);
                if (there !== null)
                    return there;
                if (isLast)
                    throw error;
            }
        }
    }
    /** Comments after the last one handled, or none when GitHub says that nothing changed. */
    async function fresh(pull, after) {
        const route = 'GET /repos/{owner}/{repo}/issues/{issue_number}/comments';
        const comments = [];
        for (let page = 1;; page++) {
            try {
                const answer = await api.request(route, {
                    owner,
                    repo,
                    issue_number: pull,
                    per_page: 100,
                    page,
                    headers: etag === null || page > 1 ? {} : { 'if-none-match': etag },
                });
                // With more than a page, the first one stays as it is when a comment is added behind it.
                const isWhole = page === 1 && answer.data.length < 100;
                etag = isWhole ? (answer.headers.etag ?? null) : null;
                for (const one of answer.data) {
                    comments.push({
                        id: Number(one.id),
                        body: one.body ?? '',
                        login: one.user?.login ?? 'ghost',
                        type: one.user?.type ?? '',
                        edited: one.updated_at !== one.created_at,
                    });
                }
                if (answer.data.length < 100)
                    break;
            }
            catch (error) {
                if ((0,_client_js__WEBPACK_IMPORTED_MODULE_0__/* .statusOf */ .c2)(error) === 304)
                    return [];
                throw error;
            }
        }
        return comments.filter((comment) => comment.id > after).sort((one, other) => one.id - other.id);
    }
    async function understand(comment, state, pull) {
        const ids = state.prd.userStories.map((story) => story.id);
        const parsed = (0,_loop_slash_commands_js__WEBPACK_IMPORTED_MODULE_1__/* .parseSlash */ .d)(comment.body, ids);
        if (parsed.kind === 'none' || !isPerson(comment))
            return null;
        const refused = { kind: 'refused', id: comment.id, by: comment.login };
        if (!(await conversation.mayWrite(comment.login))) {
            await conversation.react(comment.id, 'confused');
            return refused;
        }
        switch (parsed.kind) {
            case 'help':
            case 'status':
                return refused; // answered by the run that the comment itself started
            case 'mistake':
                await conversation.react(comment.id, 'confused');
                // An answer that GitHub does not take must not hold up the comments behind.
                await conversation
                    .reply(pull, comment.id, (0,_report_replies_js__WEBPACK_IMPORTED_MODULE_2__/* .mistakeReply */ .nd)(parsed.problem, parsed.fix))
                    .catch((error) => warn(`a comment could not be answered: ${(0,_client_js__WEBPACK_IMPORTED_MODULE_0__/* .saidByGitHub */ .C9)(error)}`));
                return refused;
            case 'command':
                await conversation.react(comment.id, 'rocket');
                return { ...parsed.command, id: comment.id, by: comment.login };
        }
    }
    const conversation = {
        async read(state) {
            const { pull } = state.github;
            if (pull === null)
                return [];
            const commands = [];
            permissions.clear();
            try {
                for (const comment of await fresh(pull, state.control.lastComment)) {
                    const command = await understand(comment, state, pull);
                    if (command !== null)
                        commands.push(command);
                }
            }
            catch (error) {
                etag = null; // what was not understood is asked for again
                warn(`comments could not be read: ${error instanceof Error ? error.message : String(error)}`);
            }
            return commands;
        },
        async waiting(state) {
            const { pull } = state.github;
            if (pull === null)
                return false;
            const ids = state.prd.userStories.map((story) => story.id);
            permissions.clear();
            try {
                for (const comment of await fresh(pull, state.control.lastComment)) {
                    const parsed = (0,_loop_slash_commands_js__WEBPACK_IMPORTED_MODULE_1__/* .parseSlash */ .d)(comment.body, ids);
                    const wantsWork = parsed.kind === 'command' && parsed.command.kind !== 'stop';
                    if (wantsWork && isPerson(comment) && (await conversation.mayWrite(comment.login)))
                        return true;
                }
            }
            catch (error) {
                warn(`comments could not be read: ${error instanceof Error ? error.message : String(error)}`);
            }
            etag = null; // they are still to be handled
            return false;
        },
        async stick(pull, known, marker, body) {
            if (known !== null) {
                try {
                    await api.rest.issues.updateComment({ owner, repo, comment_id: known, body });
                    return known;
                }
                catch (error) {
                    if ((0,_client_js__WEBPACK_IMPORTED_MODULE_0__/* .statusOf */ .c2)(error) !== 404)
                        throw error;
                }
            }
            const there = await own(pull, marker);
            if (there === null)
                return say(pull, marker, body);
            await api.rest.issues.updateComment({ owner, repo, comment_id: there, body });
            return there;
        },
        async react(comment, content) {
            try {
                await api.rest.reactions.createForIssueComment({ owner, repo, comment_id: comment, content });
            }
            catch (error) {
                warn(`the reaction could not be set: ${error instanceof Error ? error.message : String(error)}`);
            }
        },
        async reply(pull, comment, body) {
            const marker = `<!-- ralph:reply:${comment} -->`;
            // The run that the comment started answers where nobody works, and the next job reads the comment all the same.
            if ((await own(pull, marker)) === null)
                await say(pull, marker, `${marker}\n${body}`);
        },
        async mayWrite(login) {
            const before = permissions.get(login);
            if (before !== undefined)
                return before;
            const may = await api.rest.repos
                .getCollaboratorPermissionLevel({ owner, repo, username: login })
                .then(({ data }) => data.permission === 'admin' || data.permission === 'write')
                .catch((error) => {
                // Nobody of this repository. Anything else is no answer: a command must not be lost because GitHub was away.
                if ((0,_client_js__WEBPACK_IMPORTED_MODULE_0__/* .statusOf */ .c2)(error) === 404)
                    return false;
                throw error;
            });
            permissions.set(login, may);
            return may;
        },
        async newestComment(pull) {
            const comments = await fresh(pull, 0);
            etag = null;
            return comments.at(-1)?.id ?? 0;
        },
    };
    return conversation;
}
/** A human, whose words have not changed since. */
function isPerson(comment) {
    return comment.type === 'User' && comment.login !== 'ghost' && !comment.edited;
}


/***/ }),

/***/ 2437:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   D: () => (/* binding */ createDispatch),
/* harmony export */   e: () => (/* binding */ dispatchRun)
/* harmony export */ });
/* harmony import */ var _client_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(1666);

/** Dispatches `workflow` (a file name); without a generation it counts as a kick-off. Gives the run's id where the server tells it. Throws with the mend. */
async function dispatchRun(api, place, workflow, inputs) {
    const { owner, repo } = place;
    const body = {
        ref: place.defaultBranch,
        inputs: { feature: inputs.feature, generation: String(inputs.generation ?? '') },
    };
    const route = 'POST /repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches';
    try {
        const answer = await api.request(route, {
            owner,
            repo,
            workflow_id: workflow,
            ...body,
            return_run_details: true,
        });
        return runId(answer.data);
    }
    catch (error) {
        const status = (0,_client_js__WEBPACK_IMPORTED_MODULE_0__/* .statusOf */ .c2)(error);
        const old = (status === 400 || status === 422) &&
            /return_run_details|Invalid (request|input)|not a permitted key/i.test((0,_client_js__WEBPACK_IMPORTED_MODULE_0__/* .saidByGitHub */ .C9)(error));
        if (!old)
            throw new Error(mend(status, workflow, (0,_client_js__WEBPACK_IMPORTED_MODULE_0__/* .saidByGitHub */ .C9)(error)));
    }
    // An older GitHub Enterprise Server does not know return_run_details (facts 3.1).
    await api.request(route, { owner, repo, workflow_id: workflow, ...body });
    return null;
}
function createDispatch(api, place, workflow) {
    return {
        dispatch: (state) => dispatchRun(api, place, workflow, { feature: state.feature, generation: state.generation }),
    };
}
function runId(data) {
    if (typeof data !== 'object' || data === null || !('workflow_run_id' in data))
        return null;
    return typeof data.workflow_run_id === 'number' ? data.workflow_run_id : null;
}
function mend(status, workflow, said) {
    if (status === 403)
        return `${workflow} could not be dispatched (${said}): the job needs permissions: actions: write`;
    if (status === 404)
        return `${workflow} could not be dispatched (${said}): it must stand on the default branch with on: workflow_dispatch`;
    if (status === 422)
        return `${workflow} could not be dispatched (${said}): it must be enabled and declare the inputs feature and generation`;
    return `${workflow} could not be dispatched: ${said}`;
}


/***/ }),

/***/ 6373:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   d: () => (/* binding */ parseSlash)
/* harmony export */ });
/* harmony import */ var _system_nearest_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(5659);
// Reads `/ralph …` out of a comment (or a command line): first line, first word, nothing else. Pure; the text is hostile.

const WORDS = [
    'help',
    'status',
    'run',
    'resume',
    'pause',
    'stop',
    'retry',
    'redo',
    'skip',
    'note',
    'add',
    'verify',
    'limit',
    'split',
    'plan',
    'approve-plan',
];
const LONGEST_TEXT = 2000;
/** What the comment asks. `storyIds` are the ids that exist, for the nearest one. */
function parseSlash(body, storyIds) {
    const [first = '', ...below] = body.replace(/\r\n?/g, '\n').slice(0, 20_000).split('\n');
    const match = /^\/ralph(?:[ \t]+(.*))?$/s.exec(first.trimEnd());
    if (match === null)
        return { kind: 'none' };
    const { words, text } = split(match[1] ?? '');
    const [name = 'help', ...args] = words;
    const word = name.toLowerCase();
    if (!isWord(word))
        return unknownWord(word);
    return understand(word, args, text, below, storyIds);
}
function understand(word, args, text, below, ids) {
    switch (word) {
        case 'help':
            return { kind: 'help' };
        case 'status':
            return { kind: 'status' };
        case 'run':
        case 'resume':
            return { kind: 'command', command: { kind: 'run' } };
        case 'pause':
        case 'stop':
        case 'verify':
            return { kind: 'command', command: { kind: word } };
        case 'retry':
        case 'redo': {
            const found = stories(word, args, ids);
            if ('kind' in found)
                return found;
            const all = args.some((arg) => arg.toLowerCase() === 'all');
            return {
                kind: 'command',
                command: { kind: word, stories: all ? 'all' : found.stories, guidance: text },
            };
        }
        case 'skip':
        case 'note': {
            const found = stories(word, args, ids);
            if ('kind' in found)
                return found;
            if (args.some((arg) => arg.toLowerCase() === 'all'))
                return mistake(`${word} takes stories by name`, `/ralph ${word} ${ids[0] ?? 'US-001'}`);
            if (word === 'note' && text === '')
                return mistake('a note needs a text', `/ralph note ${found.stories[0] ?? 'US-001'} -- the text`);
            return { kind: 'command', command: { kind: word, stories: found.stories, guidance: text } };
        }
        case 'add':
            return add(text, below);
        case 'limit':
            return limit(args);
        case 'split':
        case 'plan':
        case 'approve-plan':
            return mistake(`${word} is not part of this version`, '/ralph help');
    }
}
function add(text, below) {
    if (text === '')
        return mistake('a new story needs a title', '/ralph add -- the title');
    const lines = below.map((line) => line.trim()).filter((line) => line !== '');
    const bullet = /^[-*]\s+(?:\[.\]\s+)?/;
    const criteria = lines
        .filter((line) => bullet.test(line))
        .map((line) => line.replace(bullet, '').slice(0, 500));
    const description = lines
        .filter((line) => !bullet.test(line))
        .join('\n')
        .slice(0, LONGEST_TEXT);
    return {
        kind: 'command',
        command: { kind: 'add', title: text.slice(0, 200), description, criteria: criteria.slice(0, 50) },
    };
}
function limit(args) {
    const [what = '', by = ''] = args;
    const amount = /^\+\d{1,6}(\.\d{1,2})?$/.test(by) ? Number(by.slice(1)) : Number.NaN;
    if (what === 'iterations' && Number.isInteger(amount) && amount > 0) {
        return { kind: 'command', command: { kind: 'limit', what, amount } };
    }
    if (what === 'cost' && amount > 0)
        return { kind: 'command', command: { kind: 'limit', what, amount } };
    return mistake('limit takes iterations or cost, and how much more', '/ralph limit iterations +20');
}
function stories(word, args, ids) {
    if (args.length === 0)
        return mistake(`${word} needs a story`, `/ralph ${word} ${ids[0] ?? 'US-001'}`);
    const found = [];
    for (const arg of args) {
        if (arg.toLowerCase() === 'all')
            continue;
        const id = ids.find((one) => one === arg) ?? ids.find((one) => one.toLowerCase() === arg.toLowerCase());
        if (id === undefined) {
            const near = (0,_system_nearest_js__WEBPACK_IMPORTED_MODULE_0__/* .nearest */ .p)(arg, ids);
            const shown = readable(arg);
            return mistake(`there is no story ${shown}`, near === null ? `/ralph ${word} ${ids[0] ?? 'US-001'}` : `/ralph ${word} ${near}`);
        }
        if (!found.includes(id))
            found.push(id);
    }
    return { stories: found };
}
/** The sender's word without anything that a page would obey. */
function readable(word) {
    return word.replace(/[^\p{L}\p{N}_.-]/gu, '').slice(0, 40) || 'of that name';
}
function unknownWord(word) {
    const near = (0,_system_nearest_js__WEBPACK_IMPORTED_MODULE_0__/* .nearest */ .p)(word, WORDS.slice(0, WORDS.indexOf('split')));
    const shown = readable(word);
    return mistake(`there is no command ${shown}`, near === null ? '/ralph help' : `/ralph ${near}`);
}
/** The words before ` -- `, and the text behind it. */
function split(rest) {
    const at = /(?:^|\s)(?:--|\u2014|\u2013)(?:\s|$)/u.exec(rest);
    const before = at === null ? rest : rest.slice(0, at.index);
    const text = at === null ? '' : rest.slice(at.index + at[0].length);
    return {
        words: before
            .split(/[\s,]+/)
            .filter(Boolean)
            .slice(0, 100),
        text: text.trim().slice(0, LONGEST_TEXT),
    };
}
function isWord(word) {
    return WORDS.some((known) => known === word);
}
function mistake(problem, fix) {
    return { kind: 'mistake', problem, fix };
}


/***/ }),

/***/ 2527:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   Cr: () => (/* binding */ bold),
/* harmony export */   DV: () => (/* binding */ codeBlock),
/* harmony export */   Hg: () => (/* binding */ mermaidText),
/* harmony export */   Jj: () => (/* binding */ cut),
/* harmony export */   Qw: () => (/* binding */ titleText),
/* harmony export */   aY: () => (/* binding */ code),
/* harmony export */   eR: () => (/* binding */ terminalText),
/* harmony export */   jf: () => (/* binding */ mermaidId),
/* harmony export */   p7: () => (/* binding */ markdownText),
/* harmony export */   wh: () => (/* binding */ plainText),
/* harmony export */   y1: () => (/* binding */ plainLines),
/* harmony export */   yq: () => (/* binding */ subjectText)
/* harmony export */ });
/* unused harmony export bounded */
// Hostile text made fit for markdown, mermaid and terminals. Everything people or agents wrote passes through here.
// Escape sequences with all that belongs to them. An unfinished string sequence loses its opening only, so that it
// cannot swallow what comes after it.
const ESCAPES = 
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
/(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)|\u001b[ -/]*[0-~]/g;
// Controls, bidirectional and zero-width marks, line separators, halves of pairs. Joiners inside of a word or an emoji
// and the emoji selector are writing, and stay; everything else that cannot be seen hides something.
const UNSEEN = /(?<=[\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}])[\u200c\u200d](?=[\p{L}\p{Extended_Pictographic}])|(?<=\p{Emoji})[\ufe0e\ufe0f]|([\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}])/gu;
// More marks on one letter than any script needs only paint over the neighbouring lines.
const HEAPED = /(\p{M}{5})\p{M}+/gu;
/** Zero width: parts what GitHub would act on (`@name`, `#1`, `http://`, `:tada:`) and is not seen. */
const BREAK = '\u200b';
/** The text without escape sequences, controls and invisible marks; line feeds and tabs stay, `\r` is a line feed. */
function plainLines(text) {
    return text
        .replace(ESCAPES, '')
        .replace(/\r\n?/g, '\n')
        .replace(UNSEEN, (match, unseen) => unseen === undefined || unseen === '\n' || unseen === '\t'
        ? match
        : unseen >= '\ud800' && unseen <= '\udfff'
            ? '\ufffd'
            : '')
        .replace(HEAPED, '$1');
}
/** The text on one line, in at most `max` UTF-16 units, cut with `…`. Nothing is escaped. */
function plainText(text, max = 300) {
    // Cut first: a hostile megabyte must not be cleaned before it is thrown away.
    const head = text.length > max * 16 ? text.slice(0, max * 16) : text;
    const line = plainLines(head.replace(/[\u2028\u2029\v\f\u0085]/g, ' '))
        .replace(/\s+/g, ' ')
        .trim();
    return cut(line, max);
}
/** At most `max` UTF-16 units, `…` included; pairs and joined characters are not cut in two. */
function cut(text, max) {
    if (text.length <= max)
        return text;
    return `${text
        .slice(0, Math.max(0, max - 1))
        .replace(/[\ud800-\udbff]$/, '')
        .replace(/[\u200b-\u200d\s]+$/, '')}…`;
}
/**
 * One line that shows the text and does nothing, in a paragraph, a table cell, a list item, a heading or inside of
 * HTML such as `<summary>` (so it uses entities, never backslashes). Nobody is notified, nothing is linked.
 */
function markdownText(text, max = 300) {
    return (quiet(plainText(text, max))
        .replace(/[&<>|`*[\]~$\\"]/g, (mark) => `&#${mark.charCodeAt(0)};`)
        // Inside of a word it does nothing, and left alone a token such as `ghp_...` is still found by the redaction.
        .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '&#95;')
        .replace(/^[-+=]/, (mark) => `&#${mark.charCodeAt(0)};`)
        .replace(/^(\d+)([.)])/, (_all, digits, mark) => `${digits}&#${mark.charCodeAt(0)};`));
}
/** One line for a place that shows no markdown, such as the title of a pull request or a check. Nobody is notified. */
function titleText(text, max = 255) {
    return cut(quiet(plainText(text, max)), max);
}
/** One line for the subject of a commit: as a title, and without the words in brackets that keep CI from running. */
function subjectText(text, max = 100) {
    const line = titleText(text, max).replace(/\[(?=[^\]]*\b(?:skip|no)\b)|\*(?=\*\*NO_CI)/gi, `$&${BREAK}`);
    return cut(line, max);
}
/** Mentions, references to issues, links and emoji codes, put out of action: GitHub looks for them after markdown was rendered. */
function quiet(line) {
    return (line
        .replace(/[@#]/g, `$&${BREAK}`)
        .replace(/\bGH-(?=\d)/gi, `$&${BREAK}`)
        .replace(/:(?=\/\/)/g, `:${BREAK}`)
        // A line number (`a.ts:12:5`) stays as it can be copied; of numbers only these two are emoji.
        .replace(/:(?=(?!\d+:)[\w+-]+:|(?:100|1234):)/g, `:${BREAK}`)
        .replace(/\bwww(?=\.)/gi, `$&${BREAK}`));
}
/** Inside of code nothing is escaped; a marker of ours there must still not be found by whoever looks for one. */
function unmarked(text) {
    return text.replace(/<!--(?=\s*ralph)/gi, `<!-${BREAK}-`);
}
/** Bold, or nothing where there is nothing; the text is markdown already. */
function bold(text) {
    return text === '' ? '' : `**${text}**`;
}
/** A code span for a word of ours or a command; what would end the span or the table cell is replaced. */
function code(text, max = 120) {
    const inner = unmarked(plainText(text, max)).replaceAll('`', "'").replaceAll('|', '/');
    return inner === '' ? '' : `\`${inner}\``;
}
/** A fenced block of at most `maxChars` UTF-16 units as a whole: head and tail stay, the tail more of it. */
function codeBlock(text, maxChars) {
    const clean = unmarked(plainLines(bounded(text, Math.max(2000, maxChars * 4), 0.3)))
        .replace(/`{33,}/g, '`'.repeat(32))
        .replace(/[^\S\n]+$/gm, '')
        .replace(/^\n+|\n+$/g, '');
    const longest = Math.max(2, ...(clean.match(/`+/g) ?? []).map((run) => run.length));
    const fence = '`'.repeat(longest + 1);
    const room = Math.max(0, maxChars - 2 * fence.length - 'text\n\n'.length);
    return `${fence}text\n${bounded(clean, room, 0.3)}\n${fence}`;
}
/** Head and tail of a text around a line that counts what is missing; `share` of the room goes to the head. */
function bounded(text, max, share) {
    if (text.length <= max)
        return text;
    const note = (missing) => `\n[... ${missing} characters left out ...]\n`;
    const room = max - note(text.length).length;
    if (room < 40)
        return cut(text, max);
    // Neither half a pair nor a joiner with nothing to join: one would show a box, the other would hide.
    const first = text
        .slice(0, Math.floor(room * share))
        .replace(/[\ud800-\udbff]$/, '')
        .replace(/[\u200c\u200d]+$/, '');
    const last = text
        .slice(text.length - Math.floor(room * (1 - share)))
        .replace(/^[\udc00-\udfff]/, '')
        .replace(/^(?:[\u200c\u200d]|[\ufe0e\ufe0f])+/, '');
    return `${first}${note(text.length - first.length - last.length)}${last}`;
}
/** Fit for a quoted node label: letters, digits and plain punctuation stay, the rest becomes mermaid's `#code;`. */
function mermaidText(text, max = 60) {
    // Dots and leading dashes could make a markdown list of the label; the ligature begins mermaid's own inner code.
    return plainText(text, max)
        .replace(/[\ufe0e\ufe0f\u200c\u200d]/g, '')
        .replaceAll('ﬂ', 'fl')
        .replace(/[^\p{L}\p{N}\p{M}\p{Emoji_Presentation} ,!?'%…–-]|^-/gu, (mark) => `#${mark.codePointAt(0)};`);
}
/** A node's id from its place in the list: words of people never are ids (`end` would end the graph). */
function mermaidId(index) {
    return `s${index}`;
}
/** One line that a terminal and a job log only show: no sequences, and no workflow command at its start or inside. */
function terminalText(text, max = 500) {
    return plainText(text, max).replaceAll('##[', '## [').replace(/^::/, ': :');
}


/***/ }),

/***/ 7542:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   Eg: () => (/* binding */ commandTable),
/* harmony export */   P1: () => (/* binding */ elsewhereReply),
/* harmony export */   nd: () => (/* binding */ mistakeReply),
/* harmony export */   wc: () => (/* binding */ helpReply)
/* harmony export */ });
/* unused harmony exports COMMANDS, unknownReply */
/* harmony import */ var _escape_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(2527);
// What people can type after `/ralph`, and the short replies to it.

/** The commands that are understood, as they are typed, with what they do. The words are markdown of ours. */
const COMMANDS = [
    ['run', 'go on now; ends a pause'],
    ['pause', 'the iteration in work ends, then nothing more until `run`'],
    ['stop', 'the session in work is ended now, uncharged; then as `pause`'],
    [
        'retry US-002 -- guidance',
        'unblock it and try again; several ids or `all`; the guidance goes into the next prompt',
    ],
    ['redo US-002 -- why', 'work on it again although it passed; its code stays'],
    ['skip US-002 -- why', 'leave it out; what depends on it goes on'],
    ['note US-002 -- text', 'guidance for its next prompt, nothing else'],
    ['add -- title', 'a new story; the lines below are its description and criteria'],
    ['verify', 'run the final verification now'],
    ['limit iterations +20', 'raise a limit; `limit cost +5` raises the one in dollars'],
    ['status', 'a 🚀 and no more: the summary shows how it stands'],
    ['help', 'this list'],
];
/** The commands as a table. */
function commandTable() {
    const rows = COMMANDS.map(([command, meaning]) => `| ${(0,_escape_js__WEBPACK_IMPORTED_MODULE_0__/* .code */ .aY)(`/ralph ${command}`)} | ${meaning} |`);
    return ['| Comment | What it does |', '| :-- | :-- |', ...rows].join('\n');
}
/** The reply to `/ralph help`. */
function helpReply() {
    return `Write one of these as the first line of a comment (people with write access):\n\n${commandTable()}\n`;
}
/** The reply to a command or story that does not exist. `suggestion` is the nearest valid first line, or null. */
function unknownReply(given, suggestion) {
    const shown = markdownText(given, 80);
    const known = shown === '' ? 'There is no command in the first line' : `I do not know “${shown}”`;
    const meant = suggestion === null ? '' : ` Did you mean ${code(suggestion, 80)}?`;
    return `😕 ${known}.${meant} ${code('/ralph help')} lists what there is. Nothing was changed.\n`;
}
/** The reply to a command on another pull request from the run's branch: nobody reads the queue there. */
function elsewhereReply(pull) {
    return `😕 The commands of this run are read in #${pull}. Nothing was changed.\n`;
}
/** The reply to a command that is for us and cannot be done: what is wrong, and what to write instead. */
function mistakeReply(problem, fix) {
    const said = (0,_escape_js__WEBPACK_IMPORTED_MODULE_0__/* .markdownText */ .p7)(problem, 160);
    return `😕 ${said.charAt(0).toUpperCase()}${said.slice(1)}. Try ${(0,_escape_js__WEBPACK_IMPORTED_MODULE_0__/* .code */ .aY)(fix, 120)}. Nothing was changed.\n`;
}


/***/ })

};
