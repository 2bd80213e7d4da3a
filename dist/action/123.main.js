export const id = 123;
export const ids = [123];
export const modules = {

/***/ 5123:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  answerComment: () => (/* binding */ answerComment)
});

// EXTERNAL MODULE: ./node_modules/@actions/core/lib/core.js + 20 modules
var core = __webpack_require__(3218);
// EXTERNAL MODULE: ./lib/git/features.js
var features = __webpack_require__(8317);
// EXTERNAL MODULE: ./lib/github/client.js
var client = __webpack_require__(636);
// EXTERNAL MODULE: ./lib/github/conversation.js
var github_conversation = __webpack_require__(7692);
// EXTERNAL MODULE: ./lib/github/dispatch.js
var dispatch = __webpack_require__(2437);
// EXTERNAL MODULE: ./lib/loop/lease.js
var lease = __webpack_require__(612);
// EXTERNAL MODULE: ./lib/loop/slash-commands.js
var slash_commands = __webpack_require__(6373);
// EXTERNAL MODULE: ./lib/report/replies.js
var replies = __webpack_require__(7542);
// EXTERNAL MODULE: ./lib/action/context.js + 1 modules
var action_context = __webpack_require__(6354);
// EXTERNAL MODULE: external "node:fs/promises"
var promises_ = __webpack_require__(1455);
// EXTERNAL MODULE: external "node:os"
var external_node_os_ = __webpack_require__(8161);
// EXTERNAL MODULE: external "node:path"
var external_node_path_ = __webpack_require__(6760);
// EXTERNAL MODULE: ./lib/git/git.js
var git_git = __webpack_require__(5216);
// EXTERNAL MODULE: ./lib/git/store.js
var store = __webpack_require__(1713);
;// CONCATENATED MODULE: ./lib/action/peek.js
// Reads states from the remote without a checkout: what a comment's run needs to know, and nothing more.






/** Every feature's state by folder name. Fetches one commit a feature, into a folder that is removed again. */
async function peekStates(context, namespace = 'refs/ralph') {
    const remote = (0,action_context/* remoteOf */.e1)(context.place, (0,action_context/* tokenOf */.B9)(context));
    const directory = await (0,promises_.mkdtemp)((0,external_node_path_.join)(context.env.RUNNER_TEMP ?? (0,external_node_os_.tmpdir)(), 'ralph-peek-'));
    const git = (args) => (0,git_git/* runPlain */.OZ)(args, directory, context.env, remote.env);
    try {
        await git(['init', '-q', '--bare', '.']);
        await git(['fetch', '-q', '--depth=1', '--no-tags', remote.url, `+${namespace}/*:refs/peek/*`]);
        const refs = await git(['for-each-ref', '--format=%(refname)', 'refs/peek/']);
        const states = new Map();
        for (const ref of refs.split('\n').filter(Boolean).sort()) {
            const state = JSON.parse(await git(['show', `${ref}:${store/* STATE_FILE */.b}`]));
            states.set(ref.slice('refs/peek/'.length), state);
        }
        return states;
    }
    finally {
        await (0,promises_.rm)(directory, { recursive: true, force: true });
    }
}

;// CONCATENATED MODULE: ./lib/action/comment.js
// The run that a comment started: acknowledges, answers what needs no work, and dispatches if nobody works.










/** What was done, in one line for the log. Never throws for what the comment says. */
async function answerComment(context) {
    const { event, place } = context;
    if (event.kind !== 'comment')
        return 'no comment';
    const { comment, issue } = event;
    if ((0,slash_commands/* parseSlash */.d)(comment.body, []).kind === 'none')
        return 'the comment is not for Ralph';
    if (!(0,github_conversation/* isPerson */.K)(comment))
        return 'commands count from people only';
    if (!event.onPull)
        return 'commands count on a pull request only';
    const api = (0,client/* createClient */.UU)({
        token: (0,action_context/* tokenOf */.B9)(context),
        url: place.api,
        warn: (message) => core/* warning */.$e(message),
    });
    const conversation = (0,github_conversation/* createConversation */.c)(api, place, (message) => core/* warning */.$e(message));
    const { owner, repo } = place;
    const { data: pull } = await api.rest.pulls.get({ owner, repo, pull_number: issue });
    const prefix = context.inputs['branch-prefix']?.trim() || 'ralph/';
    const ours = pull.head.repo?.full_name === `${owner}/${repo}`;
    const states = ours ? await peekStates(context) : new Map();
    const state = [...states]
        .filter(([folder, one]) => one.branch === pull.head.ref && (0,features/* featureOfFolder */.wH)(folder) !== null)
        .at(-1)?.[1] ?? null;
    if (!ours || (state === null && !pull.head.ref.startsWith(prefix)))
        return "the pull request is none of Ralph's";
    if (!(await conversation.mayWrite(comment.login))) {
        await conversation.react(comment.id, 'confused');
        return `${comment.login} has no write permission`;
    }
    const ids = state?.prd.userStories.map((story) => story.id) ?? [];
    const parsed = (0,slash_commands/* parseSlash */.d)(comment.body, ids);
    switch (parsed.kind) {
        case 'none':
            return 'the comment is not for Ralph';
        case 'help':
            await conversation.reply(issue, (0,replies/* helpReply */.wc)());
            await conversation.react(comment.id, 'rocket');
            return 'answered with the list of commands';
        case 'mistake':
            if (working(state))
                return 'the working job answers';
            await conversation.react(comment.id, 'confused');
            await conversation.reply(issue, (0,replies/* mistakeReply */.nd)(parsed.problem, parsed.fix));
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
                    .catch((error) => core/* warning */.$e((0,client/* saidByGitHub */.C9)(error)));
            }
            // A job that is being stopped moves the generation on, or is killed before: only a kick-off fits both.
            const generation = lives ? null : state.generation;
            const next = await (0,dispatch/* dispatchRun */.e)(api, place, context.workflow, { feature: state.feature, generation });
            return `dispatched${next === null ? '' : ` run ${next}`}`;
        }
    }
}
function working(state) {
    return state?.lease != null && !(0,lease/* expired */._7)(state.lease, Date.now());
}
async function holderLives(api, context, state) {
    const { owner, repo } = context.place;
    if (state.lease?.runId == null)
        return false;
    const run = await api.rest.actions
        .getWorkflowRun({ owner, repo, run_id: state.lease.runId })
        .catch(() => null);
    return run === null || run.data.status !== 'completed';
}


/***/ })

};
