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

/***/ 2483:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  resumeLost: () => (/* binding */ resumeLost)
});

// UNUSED EXPORTS: mayBeNext

// EXTERNAL MODULE: ./node_modules/@actions/core/lib/core.js + 20 modules
var core = __webpack_require__(3218);
// EXTERNAL MODULE: ./lib/github/client.js + 21 modules
var client = __webpack_require__(1666);
// EXTERNAL MODULE: ./lib/github/dispatch.js
var dispatch = __webpack_require__(2437);
// EXTERNAL MODULE: ./lib/loop/lease.js
var loop_lease = __webpack_require__(612);
// EXTERNAL MODULE: ./lib/loop/limits.js
var limits = __webpack_require__(5756);
;// CONCATENATED MODULE: ./lib/loop/lost.js
// Whether a chain has stopped although it should go on: asked by `resume-lost`. Pure.


/** Why the chain is to be resumed, in words, or null: it works, it has ended, or a person wants it to rest. */
function whyLost(state, holder, now) {
    const { control, lease, prd } = state;
    if (control.paused !== null || control.idleJobs >= limits/* MAX_IDLE_JOBS */.Jq)
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







/** GitHub ends a job that no runner takes within a day; what waits longer waits for a person. */
const QUEUE_MS = 24 * 3_600_000;
const CLOCKS_MS = 5 * 60_000;
/**
 * Whether a waiting run may be the chain's next job. `startedAt`: when the chain's last job began. The title tells where
 * the workflow says `run-name: Ralph ${{ inputs.feature }}`; a run that names none of the features may be anybody's. To be
 * wrong costs little: of two jobs with one generation the second does nothing.
 */
function mayBeNext(run, chain, features, now) {
    if (run.since < chain.startedAt - CLOCKS_MS)
        return false;
    const words = run.title.split(/[\s:,;()[\]"'#]+/);
    if (features.some((feature) => words.includes(feature)))
        return words.includes(chain.feature);
    return now - run.since < QUEUE_MS;
}
/** Looks at every feature once; gives what was done, in one line. */
async function resumeLost(context) {
    const { place } = context;
    const api = (0,client/* createClient */.UU)({ token: (0,action_context/* tokenOf */.B9)(context), url: place.api, warn: (text) => core/* warning */.$e(text) });
    const names = await (0,action_context/* namesByApi */.C9)(context, api);
    const workflow = names.workflow ?? noWorkflow();
    const states = await (0,peek/* peekStates */.o)(context, names.stateNamespace);
    const features = [...states.values()].map((state) => state.feature);
    const resumed = [];
    const held = [];
    let waiting = null;
    for (const state of states.values()) {
        const why = whyLost(state, await holderOf(state), Date.now());
        if (why === null)
            continue;
        waiting ??= await waitingRuns();
        const { feature, generation, job } = state;
        const chain = { feature, startedAt: job.startedAt };
        // The next look will tell.
        if (waiting.some((run) => mayBeNext(run, chain, features, Date.now()))) {
            held.push(feature);
            continue;
        }
        await (0,dispatch/* dispatchRun */.e)(api, place, workflow, { feature, generation });
        resumed.push(`${feature} (${why})`);
    }
    const said = [
        resumed.length > 0 && `resumed: ${resumed.join(', ')}`,
        held.length > 0 && `a job waits already, looking again later: ${held.join(', ')}`,
    ].filter((part) => part !== false);
    return said.length === 0 ? 'no chain is lost' : said.join('; ');
    async function waitingRuns() {
        const { owner, repo } = place;
        const route = api.rest.actions.listWorkflowRuns;
        const { data } = await route({
            owner,
            repo,
            workflow_id: workflow,
            event: 'workflow_dispatch',
            per_page: 100,
        });
        return data.workflow_runs
            .filter((run) => run.status !== 'completed' && run.status !== 'in_progress')
            .map((run) => ({ title: run.display_title, since: Date.parse(run.run_started_at ?? run.created_at) }));
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
function noWorkflow() {
    throw new errors/* UserError */.yo([
        {
            path: 'input workflow',
            found: 'nothing',
            expected: 'the file name of the workflow that works',
            fix: 'write workflow: ralph.yml; this workflow only resumes',
        },
    ]);
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

/***/ 5756:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   D$: () => (/* binding */ withCall),
/* harmony export */   GC: () => (/* binding */ iterationsLeft),
/* harmony export */   Jq: () => (/* binding */ MAX_IDLE_JOBS),
/* harmony export */   Kf: () => (/* binding */ endOfWork),
/* harmony export */   Lj: () => (/* binding */ budgetLeft),
/* harmony export */   N7: () => (/* binding */ idle),
/* harmony export */   RT: () => (/* binding */ spent),
/* harmony export */   Ui: () => (/* binding */ callAllowedAt),
/* harmony export */   jA: () => (/* binding */ estimate),
/* harmony export */   lF: () => (/* binding */ sessionMs),
/* harmony export */   u_: () => (/* binding */ LONGEST_WAIT_MS),
/* harmony export */   zZ: () => (/* binding */ batchOver)
/* harmony export */ });
/** A session with less time than this is not begun, milliseconds. */
const LEAST_MS = 60_000;
/** Jobs in a row without a charged iteration that end a chain (design 2). */
const MAX_IDLE_JOBS = 3;
/** A longer wait ends the job instead of paying a runner for it (design 2), milliseconds. */
const LONGEST_WAIT_MS = 5 * 60_000;
const HOUR_MS = 3_600_000;
/** Sessions that a cost limit is thought to pay for where no number of iterations is set. */
const DEFAULT_SHARES = 50;
/** Kept free at a job's end to checkpoint, publish, dispatch and report, milliseconds. */
function reserveMs(jobMs) {
    return Math.min(5 * 60_000, Math.ceil(jobMs / 10));
}
/** When the work of a job is over, so that it can still be saved and told: epoch milliseconds. */
function endOfWork(job) {
    return job.deadline - reserveMs(job.deadline - job.startedAt);
}
/** Time that the gates of an attempt may need before that: theirs, but at most a quarter of the job, milliseconds. */
function gatesReserveMs(job, limits) {
    return Math.min(limits.gatesMs, Math.ceil((job.deadline - job.startedAt) / 4));
}
/** Charged iterations that are still allowed; Infinity without a limit. */
function iterationsLeft(state, limits) {
    if (limits.maxIterations === 0)
        return Number.POSITIVE_INFINITY;
    return limits.maxIterations + state.control.granted.iterations - state.prd.run.iterations;
}
/** Which budget is spent, in words, or null. */
function spent(state, limits) {
    const usage = state.prd.run.usage;
    const cost = limits.maxCostUsd === null ? null : limits.maxCostUsd + state.control.granted.costUsd;
    if (cost !== null && usage.costUsd >= cost)
        return `the cost limit of $${cost.toFixed(2)} is reached`;
    const tokens = usage.inputTokens + usage.outputTokens;
    if (limits.maxTokens !== null && tokens >= limits.maxTokens) {
        return `the token limit of ${limits.maxTokens} is reached`;
    }
    if (limits.maxAgentTimeMs !== null && usage.agentSeconds * 1000 >= limits.maxAgentTimeMs) {
        return `the agent-time limit of ${Math.round(limits.maxAgentTimeMs / 60_000)} minutes is reached`;
    }
    return null;
}
/** What the next session may still spend before a limit of the run is passed; null without one. */
function budgetLeft(state, limits) {
    const { usage } = state.prd.run;
    const { maxCostUsd, maxTokens } = limits;
    return {
        costUsd: maxCostUsd === null ? null : maxCostUsd + state.control.granted.costUsd - usage.costUsd,
        tokens: maxTokens === null ? null : maxTokens - usage.inputTokens - usage.outputTokens,
    };
}
/**
 * The batch of this job is over: its iterations are used, or an attempt no longer fits before the deadline. `done`: only
 * the final verification is left, which is no iteration.
 */
function batchOver(state, limits, now, done) {
    const { job } = state;
    if (!done && limits.iterationsPerJob > 0 && job.iterations >= limits.iterationsPerJob) {
        return `the batch of ${limits.iterationsPerJob} iterations is done`;
    }
    // Attempts that are given back again and again must not hold a job for ever.
    if (limits.iterationsPerJob > 0 && job.begun >= 2 * limits.iterationsPerJob + 1)
        return 'the batch is done';
    const end = endOfWork(job);
    const enough = limits.iterationTimeoutMs + gatesReserveMs(job, limits);
    if (job.begun > 0 && now + enough > end)
        return 'no further attempt fits before the job deadline';
    // The first attempt may be shorter than the others, but one that has no time at all is not begun.
    const least = Math.min(LEAST_MS, limits.iterationTimeoutMs, Math.ceil((end - job.startedAt) / 4));
    if (now + least > end)
        return 'no attempt fits any more before the job deadline';
    return null;
}
/** Whether a job that ends like this, to be gone on with by itself, charged no iteration. */
function idle({ job }, { outcome, until }) {
    // Gates on the base, on people's commits and on the whole are no iteration, and still something done.
    if (job.landing !== null && job.landing !== 'lost' && job.begun === 0)
        return false;
    return job.iterations === 0 && (outcome === 'continued' || (until !== null && job.begun > 0));
}
/** When the next agent session may start under `callsPerHour`: epoch milliseconds, or null for now. */
function callAllowedAt(state, limits, now) {
    if (limits.callsPerHour === null)
        return null;
    const recent = state.control.calls.filter((at) => at > now - HOUR_MS);
    if (recent.length < limits.callsPerHour)
        return null;
    const oldest = recent[recent.length - limits.callsPerHour];
    return oldest === undefined ? null : oldest + HOUR_MS;
}
/** The calls of the last hour with one more. */
function withCall(calls, now) {
    return [...calls.filter((at) => at > now - HOUR_MS), now];
}
/** What a lost session is charged: the dearest so far, before the first its share of the cost limit; null is unknown. */
function estimate(state, limits) {
    const costs = state.timeline.map((entry) => entry.costUsd).filter((cost) => cost > 0);
    if (costs.length > 0)
        return Math.max(...costs);
    return limits.maxCostUsd === null ? null : limits.maxCostUsd / (limits.maxIterations || DEFAULT_SHARES);
}
/** Time that a session may take now: its own limit, or what the job has left, milliseconds. */
function sessionMs(state, limits, now) {
    const left = endOfWork(state.job) - gatesReserveMs(state.job, limits) - now;
    const { agentSeconds } = state.prd.run.usage;
    const paid = limits.maxAgentTimeMs === null ? left : limits.maxAgentTimeMs - agentSeconds * 1000;
    return Math.max(1000, Math.min(limits.iterationTimeoutMs, left, paid));
}


/***/ })

};
