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
/* harmony import */ var _github_client_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(9285);
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


/***/ })

};
