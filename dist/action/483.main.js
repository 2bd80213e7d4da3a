export const id = 483;
export const ids = [483];
export const modules = {

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
            const state = JSON.parse(await git(['show', `${ref}:${_git_store_js__WEBPACK_IMPORTED_MODULE_4__/* .STATE_FILE */ .b}`]));
            states.set(ref.slice('refs/peek/'.length), state);
        }
        return states;
    }
    finally {
        await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_0__.rm)(directory, { recursive: true, force: true });
    }
}


/***/ }),

/***/ 2483:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  resumeLost: () => (/* binding */ resumeLost)
});

// EXTERNAL MODULE: ./node_modules/@actions/core/lib/core.js + 20 modules
var core = __webpack_require__(3218);
// EXTERNAL MODULE: ./lib/github/client.js + 21 modules
var client = __webpack_require__(9285);
// EXTERNAL MODULE: ./lib/github/dispatch.js
var dispatch = __webpack_require__(2437);
// EXTERNAL MODULE: ./lib/loop/lease.js
var loop_lease = __webpack_require__(612);
;// CONCATENATED MODULE: ./lib/loop/lost.js
// Whether a chain has stopped although it should go on: asked by `resume-lost`. Pure.

/** Why the chain is to be resumed, in words, or null: it works, it has ended, or a person wants it to rest. */
function whyLost(state, holder, now) {
    const { control, lease, prd } = state;
    if (control.paused !== null)
        return null;
    if (control.notBefore !== null && control.notBefore > now)
        return null;
    if (lease !== null)
        return whyHeldInVain(state, holder, now);
    if (control.mendedRun !== null && (holder?.status !== 'completed' || stopped(holder, state)))
        return null;
    if (control.continuePending)
        return 'the next job was promised and never started';
    const waited = prd.run.outcome === 'paused' && control.notBefore !== null;
    return waited ? 'the time to wait for is over' : null;
}
function whyHeldInVain(state, holder, now) {
    const { lease } = state;
    if (lease === null)
        return null;
    const over = holder === null ? (0,loop_lease/* expired */._7)(lease, now) : holder.status === 'completed';
    if (!over)
        return null;
    return stopped(holder, state) ? null : 'the job that worked on it was lost';
}
/** A job that was cancelled before our own deadline was stopped by a person. */
function stopped(holder, { job }) {
    return holder?.conclusion === 'cancelled' && holder.at < job.deadline;
}

// EXTERNAL MODULE: ./lib/system/errors.js
var errors = __webpack_require__(94);
// EXTERNAL MODULE: ./lib/action/context.js + 1 modules
var action_context = __webpack_require__(6354);
// EXTERNAL MODULE: ./lib/action/peek.js
var peek = __webpack_require__(1307);
;// CONCATENATED MODULE: ./lib/action/resume.js
// `resume-lost`, on a schedule: starts chains again whose job was lost. Idempotent: a dispatch carries the generation.







/** Looks at every feature once; gives what was done, in one line. */
async function resumeLost(context) {
    const { place } = context;
    const workflow = context.inputs.workflow?.trim() ?? '';
    if (workflow === '') {
        throw new errors/* UserError */.yo([
            {
                path: 'input workflow',
                found: 'nothing',
                expected: 'the file name of the workflow that works',
                fix: 'write workflow: ralph.yml; this workflow only resumes',
            },
        ]);
    }
    const api = (0,client/* createClient */.UU)({ token: (0,action_context/* tokenOf */.B9)(context), url: place.api, warn: (text) => core/* warning */.$e(text) });
    const { stateNamespace } = await (0,action_context/* namesByApi */.C9)(context, api);
    const states = await (0,peek/* peekStates */.o)(context, stateNamespace);
    const resumed = [];
    let queued = null;
    for (const state of states.values()) {
        const why = whyLost(state, await holderOf(state), Date.now());
        if (why === null)
            continue;
        // What was dispatched and waits for a runner may be this chain's next job: the next look will tell.
        queued ??= await isQueued();
        if (queued)
            return 'a job waits for a runner: looking again later';
        await (0,dispatch/* dispatchRun */.e)(api, place, workflow, { feature: state.feature, generation: state.generation });
        resumed.push(`${state.feature} (${why})`);
    }
    return resumed.length === 0 ? 'no chain is lost' : `resumed: ${resumed.join(', ')}`;
    async function isQueued() {
        const { owner, repo } = place;
        const route = api.rest.actions.listWorkflowRuns;
        const { data } = await route({
            owner,
            repo,
            workflow_id: workflow,
            event: 'workflow_dispatch',
            per_page: 30,
        });
        return data.workflow_runs.some((run) => run.status !== 'completed' && run.status !== 'in_progress');
    }
    async function holderOf(state) {
        const id = state.lease?.runId ?? state.control.mendedRun;
        if (id === null)
            return null;
        const { owner, repo } = place;
        try {
            const { data } = await api.rest.actions.getWorkflowRun({ owner, repo, run_id: id });
            return { status: data.status ?? '', conclusion: data.conclusion, at: Date.parse(data.updated_at) };
        }
        catch (error) {
            core/* warning */.$e(`run ${id} could not be looked up: ${(0,client/* saidByGitHub */.C9)(error)}`);
            return null;
        }
    }
}


/***/ })

};
