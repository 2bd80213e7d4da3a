export const id = 687;
export const ids = [687];
export const modules = {

/***/ 9174:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   S: () => (/* binding */ inboxQueue),
/* harmony export */   b: () => (/* binding */ post)
/* harmony export */ });
/* harmony import */ var node_fs_promises__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(1455);
/* harmony import */ var node_path__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(6760);
/* harmony import */ var _loop_slash_commands_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(8754);
// Commands typed on this machine wait in a file, as comments wait on a pull request: the cursor is the last one handled.



/** Each line holds the feature and `/ralph …`: parsed when it is read, like a comment. */
async function post(clone, feature, text) {
    const file = inboxFile(clone);
    await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_0__.mkdir)((0,node_path__WEBPACK_IMPORTED_MODULE_1__.dirname)(file), { recursive: true });
    const last = (await entriesOf(file)).at(-1)?.id ?? 0;
    const entry = { id: Math.max(last + 1, Date.now()), feature, text };
    // A line that was torn by a crash does not take this one along.
    await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_0__.appendFile)(file, `\n${JSON.stringify(entry)}\n`);
}
function inboxQueue(clone) {
    /** The commands after the last one that was handled, which is committed with its effect. */
    async function read(state) {
        const ids = state.prd.userStories.map((story) => story.id);
        const entries = await entriesOf(inboxFile(clone));
        return entries
            .filter((entry) => entry.feature === state.feature && entry.id > state.control.lastComment)
            .map((entry) => {
            const parsed = (0,_loop_slash_commands_js__WEBPACK_IMPORTED_MODULE_2__/* .parseSlash */ .d)(entry.text, ids);
            const said = parsed.kind === 'command' ? parsed.command : { kind: 'refused' };
            return { ...said, id: entry.id, by: 'you' };
        });
    }
    return { read, waiting: async () => false };
}
async function entriesOf(file) {
    const text = await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_0__.readFile)(file, 'utf8').catch(() => '');
    return text
        .split('\n')
        .map(parseEntry)
        .filter((entry) => entry !== null);
}
function parseEntry(line) {
    try {
        const entry = JSON.parse(line);
        if (typeof entry !== 'object' || entry === null)
            return null;
        const { id, feature, text } = entry;
        if (typeof id !== 'number' || typeof feature !== 'string' || typeof text !== 'string')
            return null;
        return { id, feature, text };
    }
    catch {
        return null;
    }
}
function inboxFile(clone) {
    return (0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(clone.commonDir, 'ralph', 'inbox.jsonl');
}


/***/ }),

/***/ 7687:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

// ESM COMPAT FLAG
__webpack_require__.r(__webpack_exports__);

// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  run: () => (/* binding */ run),
  sayStep: () => (/* binding */ sayStep)
});

// EXTERNAL MODULE: external "node:path"
var external_node_path_ = __webpack_require__(6760);
// EXTERNAL MODULE: ./lib/claim.js
var claim = __webpack_require__(4787);
// EXTERNAL MODULE: external "node:fs/promises"
var promises_ = __webpack_require__(1455);
// EXTERNAL MODULE: ./lib/system/errors.js
var errors = __webpack_require__(94);
;// CONCATENATED MODULE: ./lib/git/filters.js
// Files that a filter rewrites on their way into the work tree (Git LFS): Ralph's git runs no filters, so it must not meet them.



/** Throws UserError where the work tree holds what a filter has made of files; pointers are files like any other. */
async function refuseFiltered(git, objects) {
    const { config, head, workTree } = git.clone;
    const names = new Set();
    for (const key of config.keys()) {
        const name = /^filter\.(.+)\.(clean|smudge|process)$/.exec(key)?.[1];
        if (name !== undefined)
            names.add(name);
    }
    for (const name of names) {
        const listed = await git.onClone(['ls-files', '-z', '--', `:(attr:filter=${name})`], { accept: [128] });
        for (const path of listed.stdout.split('\0').filter(Boolean)) {
            const [file, blob] = [
                await (0,promises_.lstat)((0,external_node_path_.join)(workTree, path)).catch(() => null),
                await objects.info(`${head}:${path}`),
            ];
            if (file?.isFile() !== true || blob === null || file.size === blob.size)
                continue;
            throw new errors/* UserError */.yo([
                {
                    path,
                    found: `a file that the filter ${name} has rewritten`,
                    expected: 'files as they are committed: Ralph runs no filters of the repository',
                    fix: 'check out without it (actions/checkout: lfs: false; here: git lfs uninstall --local, then git checkout .)',
                },
            ]);
        }
    }
}

// EXTERNAL MODULE: ./lib/loop/next-step.js
var next_step = __webpack_require__(6868);
// EXTERNAL MODULE: ./lib/loop/limits.js
var loop_limits = __webpack_require__(5756);
// EXTERNAL MODULE: ./lib/loop/reduce.js
var reduce = __webpack_require__(9782);
;// CONCATENATED MODULE: ./lib/loop/perform.js
// Turns a step into an event by asking the ports: the only place of the loop where effects happen.


/**
 * Performs one step. Cancellation turns into the event `interrupted`, and the end of the job's time into `out-of-time`,
 * so that the state is always put in order.
 */
async function perform(step, state, limits, ports) {
    const begun = ports.clock.now();
    const late = timer((0,loop_limits/* endOfWork */.Kf)(state.job) - begun);
    const signal = AbortSignal.any([ports.signal, late]);
    const isOver = () => signal.aborted && !settles(state, step);
    // What is over before it begins is not begun; a command that was heard is obeyed.
    const happened = isOver() || (ports.signal.aborted && step.kind === 'sync')
        ? null
        : await act(step, state, limits, { ...ports, signal }, begun);
    const at = ports.clock.now();
    if (happened === null || isOver()) {
        const usage = happened?.kind === 'judged' || happened?.kind === 'verified' ? happened.usage : null;
        return { at, kind: ports.signal.aborted ? 'interrupted' : 'out-of-time', usage };
    }
    // The candidate holds the time at which it was built; the event must say the same.
    return { ...happened, at: step.kind === 'guard' ? begun : at };
}
/** Aborts when the time is over. */
function timer(ms) {
    return ms > LONGEST_TIMER_MS ? new AbortController().signal : AbortSignal.timeout(Math.max(0, ms));
}
/** What a timer of Node can hold, milliseconds. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** Steps whose event stands although we were cancelled: they put things in order, were heard, or say what was spent. */
function settles(state, step) {
    return (state.job.conclusion !== null ||
        state.job.interrupted ||
        ['sync', 'restore', 'agent', 'accept', 'reject', 'return', 'conclude'].includes(step.kind));
}
async function act(step, state, limits, ports, now) {
    const { repository, store, gates, agent, signal } = ports;
    switch (step.kind) {
        case 'sync':
            return sync(state, ports);
        case 'restore': {
            const result = await store.restore(state);
            return result.kind === 'published' ? { kind: 'restored' } : turnedDown(result);
        }
        case 'join':
            return join(state, step.theirs, ports);
        case 'prepare': {
            const result = await gates.prepare(state.green, signal);
            if (result === null || result.ok)
                return { kind: 'prepared' };
            return {
                kind: 'failed',
                summary: `prepare failed (${result.ended})`,
                fix: `see its output:\n${result.output}`,
            };
        }
        case 'baseline': {
            await repository.checkOut(state.green, null);
            return { kind: 'baselined', gates: await whole(state.green, ports) };
        }
        case 'open':
            return perform_open(state, ports);
        case 'reserve':
            return { kind: 'reserved', storyId: step.storyId };
        case 'agent':
            return work(state, step.attempt, limits, ports, now);
        case 'guard': {
            const seen = await repository.inspect(state, { ...step.attempt, guardedAt: now });
            if (seen.kind === 'refused')
                return { kind: 'refused', failure: seen.failure };
            const allowed = !seen.empty || (limits.finalVerification && step.attempt.session?.hints.done === true);
            if (allowed)
                return { kind: 'guarded', candidate: seen.commit, empty: seen.empty, remarks: seen.remarks };
            return {
                kind: 'refused',
                failure: { kind: 'empty-diff', summary: 'the session changed nothing', detail: '' },
            };
        }
        case 'gates':
            return gate(state, step.attempt, ports);
        case 'judge': {
            const { verdict, usage } = await agent.judge(state, [step.attempt.storyId], boundsOf(state, limits, now), signal);
            await repository.restore(step.attempt.candidate ?? state.green);
            return { kind: 'judged', verdict, usage };
        }
        case 'accept':
            return { kind: 'accepted', commit: step.attempt.candidate ?? '' };
        case 'reject':
            return { kind: 'rejected', kept: await putAway(state, ports) };
        case 'return':
            return { kind: 'returned', kept: await putAway(state, ports) };
        case 'wait':
            return wait(step.until - now, signal);
        case 'verify':
            return verify(state, limits, ports, now);
        case 'push': {
            await ports.reporter.beforePublish(state, state.green);
            const result = await store.publish(onHead(state), true);
            if (result.kind !== 'published')
                return turnedDown(result);
            const pushed = onHead({ ...state, published: state.green });
            return { kind: 'pushed', github: await ports.reporter.opened(pushed) };
        }
        case 'conclude':
            return { kind: 'concluded', conclusion: step.conclusion };
        case 'publish':
            return publish(state, limits, ports);
        case 'dispatch':
            try {
                return { kind: 'dispatched', runId: await ports.dispatch.dispatch(state) };
            }
            catch (error) {
                return { kind: 'dispatch-failed', summary: error instanceof Error ? error.message : String(error) };
            }
        case 'report':
            return { kind: 'reported', github: await ports.reporter.finished(state, step.conclusion) };
    }
}
async function work(state, attempt, limits, ports, now) {
    const kept = state.kept[attempt.storyId] ?? null;
    const { conflict } = await ports.repository.checkOut(state.green, kept);
    const how = { ...boundsOf(state, limits, now), conflict };
    const session = await ports.agent.work(state, attempt, how, ports.signal);
    return { kind: 'worked', session };
}
function boundsOf(state, limits, now) {
    return { timeoutMs: (0,loop_limits/* sessionMs */.lF)(state, limits, now), budget: (0,loop_limits/* budgetLeft */.Lj)(state, limits) };
}
async function gate(state, attempt, ports) {
    const candidate = attempt.candidate ?? '';
    const story = state.prd.userStories.find((one) => one.id === attempt.storyId);
    return { kind: 'gated', candidate, gates: await gatesOn(candidate, story?.tags ?? [], ports) };
}
/** Every gate on the whole of a commit that is checked out. */
function whole(commit, ports) {
    return gatesOn(commit, null, ports);
}
/** The commit's own dependencies, then its gates; what they wrote is thrown away. */
async function gatesOn(commit, tags, ports) {
    const { repository, gates, signal } = ports;
    const prepared = await gates.prepare(commit, signal);
    const results = prepared === null ? [] : [prepared];
    if (prepared?.ok !== false)
        results.push(...(await gates.run(tags, signal)));
    await repository.restore(commit);
    return results;
}
/** Leaves a clean tree at the green commit and keeps the work for the story's next attempt. */
async function putAway(state, ports) {
    const kept = await ports.repository.keep(state);
    await ports.repository.checkOut(state.green, null);
    return kept;
}
async function perform_open(state, ports) {
    const { repository, store } = ports;
    let { green } = state;
    if (state.published === null) {
        const first = await repository.record(state, `chore(ralph): start ${state.feature}`);
        green = first ?? green;
    }
    await repository.checkOut(green, null);
    if (state.published !== null)
        await ports.reporter.beforePublish(state, green);
    const result = await store.publish(onHead({ ...state, green }), true);
    if (result.kind !== 'published')
        return turnedDown(result);
    const opened = onHead({ ...state, green, published: green });
    return { kind: 'opened', green, github: await ports.reporter.opened(opened) };
}
async function sync(state, ports) {
    const commands = await ports.queue.read(state);
    const theirs = await ports.store.theirs(state);
    if (theirs !== 'gone')
        return { kind: 'synced', commands, theirs };
    return { kind: 'synced', commands, theirs: (await ports.reporter.merged(state)) ? 'merged' : 'deleted' };
}
async function join(state, theirs, ports) {
    const { repository } = ports;
    const joined = await repository.join(state, theirs);
    if ('refused' in joined)
        return { kind: 'join-failed', summary: joined.refused };
    const { code, ...rest } = joined;
    if (code) {
        await repository.checkOut(joined.green, null);
        const results = await whole(joined.green, ports);
        const red = results.find((result) => !result.ok && !result.advisory);
        if (red !== undefined) {
            const summary = `gate ${red.name} fails on ${theirs.slice(0, 7)}, which people pushed: mend the branch, then run again`;
            return { kind: 'join-failed', summary };
        }
    }
    return { kind: 'joined', theirs, ...rest };
}
async function verify(state, limits, ports, now) {
    const { repository, gates, agent, signal } = ports;
    if (state.job.begun + state.job.joins + state.verification.sessions === 0)
        await repository.checkOut(state.green, null);
    else {
        // What a session, or tests of its code, left where no diff shows it must not make the whole green.
        await repository.renew(state.green);
        await gates.renew();
    }
    const results = await whole(state.green, ports);
    const red = results.find((result) => !result.ok && !result.advisory);
    if (red !== undefined) {
        const reason = `gate ${red.name} fails on the whole (${red.ended})`;
        const stories = lastPassed(state);
        const verdict = stories.length > 0 ? { kind: 'reset', stories, reason } : { kind: 'none', message: reason };
        return { kind: 'verified', gates: results, verdict, usage: NO_USAGE };
    }
    const ids = state.prd.userStories.filter((story) => story.passes).map((story) => story.id);
    // Where every story was skipped by a person there is nothing to judge.
    if (ids.length === 0)
        return { kind: 'verified', gates: results, verdict: { kind: 'verified' }, usage: NO_USAGE };
    const { verdict, usage } = await agent.judge(state, ids, boundsOf(state, limits, now), signal);
    await repository.restore(state.green);
    return { kind: 'verified', gates: results, verdict, usage };
}
const NO_USAGE = { calls: 0, inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: 0, agentSeconds: 0 };
/** The story that passed last: where a gate that only the whole shows to be red is mended. */
function lastPassed(state) {
    const passed = state.prd.userStories.filter((story) => story.passes);
    const at = (id) => state.timeline.findLastIndex((entry) => entry.storyId === id && entry.result === 'passed');
    const last = passed.sort((one, other) => at(other.id) - at(one.id))[0];
    return last === undefined ? [] : [last.id];
}
async function publish(state, limits, ports) {
    const { repository, store, queue } = ports;
    // The first push of the branch belongs to `open`: until then a run that ends has made nothing.
    const { branchRefused, branchGone } = state.job;
    const withBranch = !branchRefused && branchGone === null && state.published !== null;
    const leaving = (0,reduce/* released */.w2)(state, limits);
    const subject = `chore(ralph): ${state.feature} ${state.job.conclusion?.outcome ?? ''}`.trim();
    const recorded = withBranch ? await repository.record(leaving, subject) : null;
    const green = recorded ?? state.green;
    if (withBranch)
        await repository.checkOut(green, null);
    await ports.reporter.beforePublish(state, green);
    const saved = { ...leaving, green, progress: recorded === null ? leaving.progress : [] };
    const result = await store.publish(withBranch ? onHead(saved) : saved, withBranch);
    if (result.kind !== 'published')
        return turnedDown(result);
    // A command that came in after our last look, while we still held the lease, was dispatched by nobody (but `stop`).
    return { kind: 'published', green, withBranch, more: await queue.waiting(state) };
}
/** From this publish on the checks stand on the green commit. */
function onHead(state) {
    return { ...state, github: { ...state.github, head: state.green } };
}
function turnedDown(result) {
    if (result.kind === 'diverged')
        return { kind: 'diverged', theirs: result.theirs };
    return { kind: result.kind === 'expired' ? 'push-expired' : 'push-refused', summary: result.reason };
}
async function wait(ms, signal) {
    await new Promise((resolve) => {
        const timer = setTimeout(done, Math.max(0, ms));
        function done() {
            clearTimeout(timer);
            signal.removeEventListener('abort', done);
            resolve();
        }
        signal.addEventListener('abort', done);
        if (signal.aborted)
            done();
    });
    return { kind: 'waited' };
}

;// CONCATENATED MODULE: ./lib/loop/loop.js



async function loop(start, limits, ports, ours = () => true) {
    let state = start;
    for (;;) {
        const step = (0,next_step/* nextStep */.s)(state, limits, ports.clock.now());
        if (step.kind === 'stop')
            return { conclusion: step.conclusion, state };
        if (!ours(step))
            return { step, state };
        await ports.reporter.step(step, state);
        const event = await perform(step, state, limits, ports);
        state = (0,reduce/* reduce */.TS)(state, event, limits);
        if ((0,reduce/* durable */.W0)(event))
            await ports.store.save(state);
        await ports.reporter.event(event, state);
    }
}

// EXTERNAL MODULE: ./lib/report/escape.js
var report_escape = __webpack_require__(2527);
// EXTERNAL MODULE: ./lib/report/outputs.js
var outputs = __webpack_require__(8568);
// EXTERNAL MODULE: ./lib/report/terminal.js + 1 modules
var terminal = __webpack_require__(1992);
// EXTERNAL MODULE: ./lib/wire.js + 55 modules
var wire = __webpack_require__(9618);
// EXTERNAL MODULE: ./lib/cli/context.js
var cli_context = __webpack_require__(4641);
// EXTERNAL MODULE: ./lib/cli/inbox.js
var inbox = __webpack_require__(9174);
// EXTERNAL MODULE: ./lib/report/words.js
var words = __webpack_require__(8191);
;// CONCATENATED MODULE: ./lib/cli/live.js


/** Characters of what an agent says that a line shows. */
const SHOWN = 300;
function createLive(screen, facts, noColour) {
    const tty = screen.isTTY === true;
    const look = { width: Math.min(100, screen.columns ?? 80), colour: tty && !noColour, plain: !tty };
    let shown = 0;
    let state = null;
    let since = 0;
    let timer = null;
    /** Lines go above the header; the header is drawn again below them. */
    function print(lines) {
        if (!tty) {
            for (const line of lines)
                screen.write(`${line}\n`);
            return;
        }
        const text = lines.map((line) => `${line}\n`).join('');
        screen.write(erase() + text + draw());
    }
    function erase() {
        const text = shown === 0 ? '' : `\u001b[${shown}A\u001b[0J`;
        shown = 0;
        return text;
    }
    function draw() {
        if (state === null)
            return '';
        const clock = since === 0 ? '' : `\n  ${(0,words/* humanMs */.o0)(Date.now() - since)}`;
        const text = `${(0,terminal/* banner */.vK)(state, facts.limits, look.width, look.colour)}${clock}\n`;
        shown = text.split('\n').length - 1;
        return text;
    }
    function tick(on) {
        if (timer !== null)
            clearInterval(timer);
        timer = null;
        since = on ? Date.now() : 0;
        if (!on || !tty)
            return;
        timer = setInterval(() => screen.write(erase() + draw()), 1000);
        timer.unref();
    }
    return {
        look,
        async step(step, now) {
            if (!tty && state === null)
                print([(0,terminal/* plainBanner */.po)(now, facts.limits)]);
            state = now;
            const working = step.kind === 'agent' || step.kind === 'gates' || step.kind === 'verify' || step.kind === 'wait';
            tick(working);
            print((0,terminal/* stepLines */.mR)(step, now, facts, look));
        },
        async event(event, now) {
            state = now;
            tick(false);
            print((0,terminal/* eventLines */.Cl)(withoutGates(event), now, facts, look));
        },
        async beforePublish() { },
        async opened(now) {
            return now.github;
        },
        merged: async () => false,
        async finished(now) {
            return now.github;
        },
        warn: (message) => print([(0,terminal/* warningLine */.tE)(message, look)]),
        agent(event) {
            const text = sayAgent(event);
            if (text !== null)
                print([(0,terminal/* agentLine */.SS)(text, facts, look)]);
        },
        gate: (result) => print((0,terminal/* gateLines */.HN)([result], look)),
        say: (text) => print(text.split('\n')),
        close() {
            tick(false);
            state = null;
            if (tty)
                screen.write(erase());
        },
    };
}
/** Gates are said as they end. */
function withoutGates(event) {
    return event.kind === 'baselined' || event.kind === 'gated' || event.kind === 'verified'
        ? { ...event, gates: [] }
        : event;
}
/** The transcript has all of it. */
function live_short(text) {
    const line = text.replace(/\s+/g, ' ').trim();
    return line.length <= SHOWN ? line : `${line.slice(0, SHOWN - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
/** One readable line for what an agent does, or nothing. */
function sayAgent(event) {
    switch (event.kind) {
        case 'text':
            return event.text.trim() === '' ? null : live_short(event.text);
        case 'tool':
            return event.target === null ? event.name : `${event.name} ${event.target}`;
        case 'limit':
            return event.resetsAt === null
                ? 'a usage or rate limit is reached'
                : `the usage limit is reached, until ${(0,words/* utc */.n$)(event.resetsAt)}`;
        case 'retry':
            return `asks its server again after ${event.status === null ? 'a failed request' : `HTTP ${event.status}`} (attempt ${event.attempt})`;
        case 'error':
            return live_short(event.message);
        case 'usage':
            return null;
    }
}

// EXTERNAL MODULE: ./lib/cli/local.js
var cli_local = __webpack_require__(921);
;// CONCATENATED MODULE: ./lib/cli/run.js
var __addDisposableResource = (undefined && undefined.__addDisposableResource) || function (env, value, async) {
    if (value !== null && value !== void 0) {
        if (typeof value !== "object" && typeof value !== "function") throw new TypeError("Object expected.");
        var dispose, inner;
        if (async) {
            if (!Symbol.asyncDispose) throw new TypeError("Symbol.asyncDispose is not defined.");
            dispose = value[Symbol.asyncDispose];
        }
        if (dispose === void 0) {
            if (!Symbol.dispose) throw new TypeError("Symbol.dispose is not defined.");
            dispose = value[Symbol.dispose];
            if (async) inner = dispose;
        }
        if (typeof dispose !== "function") throw new TypeError("Object not disposable.");
        if (inner) dispose = function() { try { inner.call(this); } catch (e) { return Promise.reject(e); } };
        env.stack.push({ value: value, dispose: dispose, async: async });
    }
    else if (async) {
        env.stack.push({ async: true });
    }
    return value;
};
var __disposeResources = (undefined && undefined.__disposeResources) || (function (SuppressedError) {
    return function (env) {
        function fail(e) {
            env.error = env.hasError ? new SuppressedError(e, env.error, "An error was suppressed during disposal.") : e;
            env.hasError = true;
        }
        var r, s = 0;
        function next() {
            while (r = env.stack.pop()) {
                try {
                    if (!r.async && s === 1) return s = 0, env.stack.push(r), Promise.resolve().then(next);
                    if (r.dispose) {
                        var result = r.dispose.call(r.value);
                        if (r.async) return s |= 2, Promise.resolve(result).then(next, function(e) { fail(e); return next(); });
                    }
                    else s |= 1;
                }
                catch (e) {
                    fail(e);
                }
            }
            if (s === 1) return env.hasError ? Promise.reject(env.error) : Promise.resolve();
            if (env.hasError) throw env.error;
        }
        return next();
    };
})(typeof SuppressedError === "function" ? SuppressedError : function (error, suppressed, message) {
    var e = new Error(message);
    return e.name = "SuppressedError", e.error = error, e.suppressed = suppressed, e;
});
// `ralph run`: works on a feature on this machine until an outcome.














/** Works until the outcome. Ctrl+C ends the session in work, saves, and gives 130; a second one ends at once. */
async function run(context) {
    const env_1 = { stack: [], error: void 0, hasError: false };
    try {
        const { settings, notes } = await (0,cli_context/* settingsOf */.f5)(context);
        const limits = (0,wire/* limitsOf */.Af)(settings);
        const screen = context.json ? process.stderr : process.stdout;
        const live = createLive(screen, { limits, agent: settings.agent, voice: 'cli' }, context.env.NO_COLOR !== undefined);
        for (const note of [...notes, ...(0,wire/* unsupported */.qO)(settings)])
            live.warn(note);
        if (settings.gates.length === 0)
            live.warn('no gate is configured: every change that an agent makes will pass');
        const local = __addDisposableResource(env_1, await (0,cli_local/* openLocal */.qE)(context, settings, live), false);
        if (context.flags.dryRun === true)
            return await dryRun(local, live);
        await refuseFiltered(local.workshop.git, local.workshop.objects);
        const stop = new AbortController();
        const release = onSignals(stop, live);
        let as = null;
        try {
            as = await (0,wire/* openIsolation */.zS)({ settings, env: context.env, clone: local.workshop.clone, say: live.warn });
            const now = Date.now();
            const lease = await (0,wire/* leaseFor */.UX)(settings, now, null);
            const ports = await cancellable(stop.signal, {
                settings,
                mark: lease.mark,
                env: context.env,
                workshop: local.workshop,
                reporter: live,
                queue: (0,inbox/* inboxQueue */.S)(local.workshop.clone),
                dispatch: { dispatch: async () => null },
                signal: stop.signal,
                as,
                onAgent: live.agent,
                onGateStart: () => { },
                onGateEnd: live.gate,
            });
            if (ports === null)
                return { code: outputs/* EXIT_CODES */.a.interrupted, outputs: (0,outputs.outputsOf)(null, 'interrupted', null) };
            const claimed = await (0,claim/* claim */.B7)(local.workshop.git, local.workshop.objects, local.workshop.store, local.workshop.repository, {
                feature: settings.feature,
                branchPrefix: settings.branchPrefix,
                base: local.base,
                workTree: local.workshop.clone.workTree,
                generation: null,
                lease,
                alive: local.alive,
                bury: local.bury,
                job: (0,claim/* newJob */.iO)(now, context.flags.jobDeadline === undefined ? Number.MAX_SAFE_INTEGER : now + settings.jobDeadlineMs),
                chosen: {},
                settle: (state) => (0,cli_local/* adoptSettle */.OZ)(local, state),
                today: new Date(now).toISOString().slice(0, 10),
                firstComment: async () => 0,
            }).catch((error) => {
                throw error instanceof claim/* Held */._b ? taken(error) : error;
            });
            for (const note of claimed.notes)
                live.warn(note);
            const { state, conclusion } = await loop(unpaused(claimed.state), limits, ports);
            live.close();
            const logs = (0,external_node_path_.join)(local.workshop.clone.gitDir, 'ralph', 'logs');
            live.say((0,terminal/* outcomeSummary */.hG)(state, conclusion, [['Logs', logs]], { limits, agent: settings.agent, voice: 'cli' }, live.look));
            const more = state.job.error === null ? {} : { errors: [errorOf(state)] };
            return { code: outputs/* EXIT_CODES */.a[conclusion.outcome], outputs: (0,outputs.outputsOf)(state, conclusion.outcome, null), more };
        }
        finally {
            await as?.close();
            release();
            live.close();
        }
    }
    catch (e_1) {
        env_1.error = e_1;
        env_1.hasError = true;
    }
    finally {
        __disposeResources(env_1);
    }
}
/** A person who types `ralph run` goes on, as by the comment: it ends a pause, and takes the branch as people left it. */
function unpaused(state) {
    return { ...state, control: { ...state.control, paused: null }, job: { ...state.job, takesBranch: true } };
}
/** The ports, or null where the person has cancelled while an agent was installed. */
async function cancellable(signal, options) {
    try {
        return await (0,wire/* createPorts */.RV)(options);
    }
    catch (error) {
        if (signal.aborted)
            return null;
        throw error;
    }
}
function taken({ lease, message }) {
    const fix = `wait until it has ended, or end it (kill ${lease.pid})`;
    return new errors/* UserError */.yo([{ path: 'feature', found: message, expected: 'nobody at work on it', fix }]);
}
function errorOf(state) {
    const { error } = state.job;
    return { path: 'run', found: error?.summary ?? '', expected: 'a run that can start', fix: error?.fix ?? '' };
}
/** Prints the decision and touches nothing. */
async function dryRun(local, live) {
    const state = await local.look();
    const limits = (0,wire/* limitsOf */.Af)(local.settings);
    const step = (0,next_step/* nextStep */.s)(ready(unpaused(state)), limits, Date.now());
    live.say(`Next: ${sayStep(step, state)}`);
    return { code: 0, outputs: (0,outputs.outputsOf)(state, null, null), more: { next: describe(step) } };
}
/** As the state would be when the job has been set up. */
function ready(state) {
    const job = { ...(0,claim/* newJob */.iO)(Date.now(), Number.MAX_SAFE_INTEGER), synced: true, prepared: true, opened: true };
    return { ...state, attempt: null, baseline: 'green', job };
}
function describe(step) {
    if (step.kind === 'reserve')
        return { step: 'work', storyId: step.storyId };
    if (step.kind === 'conclude')
        return { step: 'stop', outcome: step.conclusion.outcome, reason: step.conclusion.reason };
    return { step: step.kind };
}
function sayStep(step, state) {
    if (step.kind === 'reserve') {
        const story = state.prd.userStories.find((one) => one.id === step.storyId);
        return `work on ${step.storyId} (${(0,report_escape/* terminalText */.eR)(story?.title ?? '')}), attempt ${(story?.retries ?? 0) + 1}`;
    }
    if (step.kind === 'verify')
        return 'the final verification';
    if (step.kind === 'conclude')
        return `stop: ${step.conclusion.outcome} (${(0,report_escape/* terminalText */.eR)(step.conclusion.reason)})`;
    return step.kind;
}
function onSignals(stop, live) {
    const heard = (signal) => {
        if (stop.signal.aborted) {
            live.close();
            process.exit(outputs/* EXIT_CODES */.a.interrupted);
        }
        live.warn(`${signal}: ending the session and saving; press Ctrl+C again to leave at once`);
        stop.abort();
    };
    process.on('SIGINT', heard);
    process.on('SIGTERM', heard);
    process.on('SIGHUP', heard);
    return () => {
        process.off('SIGINT', heard);
        process.off('SIGTERM', heard);
        process.off('SIGHUP', heard);
    };
}


/***/ }),

/***/ 8754:
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


/***/ })

};
