export const id = 977;
export const ids = [977];
export const modules = {

/***/ 6868:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   $: () => (/* binding */ outcomeOf),
/* harmony export */   s: () => (/* binding */ nextStep)
/* harmony export */ });
/* harmony import */ var _prd_select_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(2856);
/* harmony import */ var _breaker_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(2226);
/* harmony import */ var _limits_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(5756);
// What to do next: a pure, total decision from state, limits and time. The whole policy of a run stands here.



/** The next step as data. Every reachable state leads to `stop` in a bounded number of steps (test/unit/loop). */
function nextStep(state, limits, now) {
    const { job, attempt } = state;
    if (job.conclusion !== null)
        return wrapUp(state, job.conclusion, limits);
    if (attempt !== null)
        return carryOn(attempt);
    if (job.error !== null)
        return conclude('error', job.error.summary);
    if (job.interrupted)
        return conclude('interrupted', 'cancelled; the state is saved');
    // What people pushed is gated: the job must be prepared first.
    const { landing } = job;
    const { theirs } = job;
    if (theirs !== null && (landing === null || landing === 'join'))
        return job.prepared ? { kind: 'join', theirs } : { kind: 'prepare' };
    if (!job.synced)
        return { kind: 'sync' };
    const wasComplete = state.prd.run.outcome === 'complete' && (0,_prd_select_js__WEBPACK_IMPORTED_MODULE_0__/* .remaining */ .Tk)(state.prd).length === 0;
    if (job.branchGone !== null && job.takesBranch && !wasComplete)
        return { kind: 'restore' };
    const verdict = outcomeOf(state, limits, now);
    if (verdict !== null)
        return { kind: 'conclude', conclusion: verdict };
    if (!job.prepared)
        return { kind: 'prepare' };
    if (limits.baseline && state.baseline === 'pending' && (landing === null || landing === 'baseline'))
        return { kind: 'baseline' };
    if (landing !== null && landing !== 'verify')
        return landed(state);
    if (!job.opened)
        return { kind: 'open' };
    if (limits.publishEach && state.green !== state.published && !job.branchRefused)
        return { kind: 'push' };
    const pause = waiting(state, limits, now);
    if (pause !== null)
        return { kind: 'wait', ...pause };
    const story = (0,_prd_select_js__WEBPACK_IMPORTED_MODULE_0__/* .pickStory */ .lQ)(state.prd, (one) => (0,_breaker_js__WEBPACK_IMPORTED_MODULE_1__/* .openUntil */ .nU)(state.records[one.id], now) === null);
    if (story === null)
        return { kind: 'verify' };
    return landing === null ? { kind: 'reserve', storyId: story.id } : landed(state);
}
/** A job that lands what others did begins nothing: the next run claims what is next. */
function landed(state) {
    const conclusion = end('continued', 'what was handed over is landed');
    return { kind: 'conclude', conclusion: orIdle(state, conclusion) };
}
/** An attempt in work is always finished or given back, whatever else happens. */
function carryOn(attempt) {
    switch (attempt.phase) {
        case 'reserved':
            return { kind: 'agent', attempt };
        case 'worked':
            return { kind: 'guard', attempt };
        case 'guarded':
            return { kind: 'gates', attempt };
        case 'gated':
            return attempt.empty ? { kind: 'judge', attempt } : { kind: 'accept', attempt };
        case 'judged':
            return { kind: 'accept', attempt };
        case 'failed':
            return { kind: 'reject', attempt };
        case 'returned':
            return { kind: 'return', attempt };
    }
}
/** Publish, then dispatch, then report: the work is safe before anybody is told. */
function wrapUp(state, conclusion, limits) {
    const { job } = state;
    if (!job.published)
        return { kind: 'publish', conclusion };
    const goesOn = job.more || (conclusion.outcome === 'continued' && limits.redispatch);
    if (goesOn && !job.dispatched)
        return { kind: 'dispatch' };
    if (!job.reported)
        return { kind: 'report', conclusion };
    return { kind: 'stop', conclusion };
}
/** Jobs that may have begun by now: those that granted iterations need come on top, and a person's word starts anew. */
function jobsAllowed({ control }, limits) {
    const { iterationsPerJob, maxJobs } = limits;
    const granted = iterationsPerJob === 0 ? 0 : 3 * Math.ceil(control.granted.iterations / iterationsPerJob);
    return control.jobsBefore + maxJobs + granted;
}
function conclude(outcome, reason) {
    return { kind: 'conclude', conclusion: end(outcome, reason) };
}
/** Whether the run is over now, and why. Completion comes before limits: finishing on the last iteration is complete. */
function outcomeOf(state, limits, now) {
    const { control, prd, verification } = state;
    const open = (0,_prd_select_js__WEBPACK_IMPORTED_MODULE_0__/* .remaining */ .Tk)(prd);
    const done = open.length === 0;
    if (state.job.branchRefused)
        return end('paused', control.paused?.reason ?? 'the branch could not be pushed');
    const finished = done && (verification.approved || !limits.finalVerification);
    if (state.job.branchGone !== null)
        return afterTheBranch(state, state.job.branchGone, finished);
    if (finished) {
        return end('complete', 'every story passed its gates');
    }
    if (control.paused !== null)
        return end('paused', control.paused.reason);
    if (!done && ((0,_prd_select_js__WEBPACK_IMPORTED_MODULE_0__/* .pickStory */ .lQ)(prd) === null || (limits.stopOnBlocked && open.some((story) => story.blocked)))) {
        const blocked = open.filter((story) => story.blocked).map((story) => story.id);
        return end('stuck', `blocked: ${blocked.join(', ')}`);
    }
    if (done && verification.sessions >= limits.maxAttempts) {
        return end('stuck', `the final verification gave no verdict: ${verification.message}`);
    }
    if (!done && (0,_limits_js__WEBPACK_IMPORTED_MODULE_2__/* .iterationsLeft */ .GC)(state, limits) <= 0) {
        return end('max-iterations', `the limit of ${prd.run.iterations} iterations is reached`);
    }
    if (prd.run.jobs > jobsAllowed(state, limits)) {
        return end('max-iterations', `the limit of ${limits.maxJobs} jobs is reached`);
    }
    const budget = (0,_limits_js__WEBPACK_IMPORTED_MODULE_2__/* .spent */ .RT)(state, limits);
    if (budget !== null)
        return end('budget', budget);
    const pause = waiting(state, limits, now);
    if (pause !== null && pause.until - now > _limits_js__WEBPACK_IMPORTED_MODULE_2__/* .LONGEST_WAIT_MS */ .u_) {
        return orIdle(state, { outcome: 'paused', reason: pause.reason, until: pause.until });
    }
    const over = (0,_limits_js__WEBPACK_IMPORTED_MODULE_2__/* .batchOver */ .zZ)(state, limits, now, done);
    return over === null ? null : orIdle(state, end('continued', over));
}
/** The branch is not there any more: what was complete stays complete, anything else waits for a person. */
function afterTheBranch(state, how, finished) {
    if (finished && state.prd.run.outcome === 'complete')
        return end('complete', `every story passed; the branch was ${how}`);
    const { branch, green } = state;
    const what = how === 'merged' ? 'merged and deleted' : 'deleted';
    return end('paused', `${branch} was ${what} by people: say run to make it again (it was at ${green})`);
}
/** A chain whose jobs get nothing done is no chain that goes on by itself. */
function orIdle(state, conclusion) {
    if (!(0,_limits_js__WEBPACK_IMPORTED_MODULE_2__/* .idle */ .N7)(state, conclusion) || state.control.idleJobs + 1 < _limits_js__WEBPACK_IMPORTED_MODULE_2__/* .MAX_IDLE_JOBS */ .Jq)
        return conclusion;
    return end('error', `${_limits_js__WEBPACK_IMPORTED_MODULE_2__/* .MAX_IDLE_JOBS */ .Jq} jobs in a row ended without an iteration (${conclusion.reason})`);
}
/** Until when no session may start, and why: a vendor's limit, ours, or stories that all rest. */
function waiting(state, limits, now) {
    const rest = resting(state, now);
    if (rest !== null) {
        return { until: rest, reason: `every story that is left rests until ${new Date(rest).toISOString()}` };
    }
    const vendor = state.control.notBefore ?? 0;
    const hourly = (0,_limits_js__WEBPACK_IMPORTED_MODULE_2__/* .callAllowedAt */ .Ui)(state, limits, now) ?? 0;
    const until = Math.max(vendor, hourly);
    if (until <= now)
        return null;
    const what = vendor >= hourly ? "the agent's limit" : `the limit of ${limits.callsPerHour} calls an hour`;
    return { until, reason: `waiting for ${what} until ${new Date(until).toISOString()}` };
}
/** When the first breaker lets a story through, where all of those that could be worked on are open; null otherwise. */
function resting(state, now) {
    const times = [];
    const isFree = ({ id }) => {
        const until = (0,_breaker_js__WEBPACK_IMPORTED_MODULE_1__/* .openUntil */ .nU)(state.records[id], now);
        if (until !== null)
            times.push(until);
        return until === null;
    };
    return (0,_prd_select_js__WEBPACK_IMPORTED_MODULE_0__/* .pickStory */ .lQ)(state.prd, isFree) !== null || times.length === 0 ? null : Math.min(...times);
}
function end(outcome, reason) {
    return { outcome, reason, until: null };
}


/***/ }),

/***/ 1992:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  SS: () => (/* binding */ agentLine),
  vK: () => (/* binding */ banner),
  Cl: () => (/* binding */ eventLines),
  HN: () => (/* binding */ gateLines),
  hG: () => (/* binding */ outcomeSummary),
  po: () => (/* binding */ plainBanner),
  Bs: () => (/* binding */ statusLine),
  mR: () => (/* binding */ stepLines),
  tE: () => (/* binding */ warningLine)
});

// UNUSED EXPORTS: blockedLine, heading, line, storyLines, waitLine

// EXTERNAL MODULE: ./lib/loop/limits.js
var loop_limits = __webpack_require__(5756);
// EXTERNAL MODULE: ./lib/prd/select.js
var prd_select = __webpack_require__(2856);
// EXTERNAL MODULE: ./lib/system/excerpt.js
var excerpt = __webpack_require__(2708);
// EXTERNAL MODULE: ./lib/report/escape.js
var report_escape = __webpack_require__(2527);
;// CONCATENATED MODULE: ./lib/report/width.js
// How many columns text takes on a terminal, and fitting it into them. Text only: colours are put on afterwards.
const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });
// East Asian Wide and Fullwidth (Unicode 16, EastAsianWidth.txt), in blocks.
const WIDE = /^[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{1b2ff}\u{20000}-\u{3fffd}]/u;
const EMOJI = /\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f|[0-9#*]\ufe0f?\u20e3/u;
/** Columns of a text without control characters; a joined emoji counts as one of two columns. */
function width_textWidth(text) {
    if (/^[ -~]*$/.test(text))
        return text.length;
    let columns = 0;
    for (const { segment } of segmenter.segment(text))
        columns += clusterWidth(segment);
    return columns;
}
function clusterWidth(cluster) {
    if (EMOJI.test(cluster) || WIDE.test(cluster))
        return 2;
    return /^[\p{M}\p{Cf}\p{Cc}]+$/u.test(cluster) ? 0 : 1;
}
/** The text in at most `columns`, cut with `…`. */
function width_fit(text, columns) {
    if (width_textWidth(text) <= columns)
        return text;
    return columns < 1 ? '' : `${take(text, columns - 1).trimEnd()}…`;
}
/** The text in exactly `columns`: cut, or filled with spaces. */
function width_pad(text, columns) {
    const shown = width_fit(text, columns);
    return shown + ' '.repeat(Math.max(0, columns - width_textWidth(shown)));
}
/** The text in lines of at most `columns` (at least 2), broken at spaces where it can be. */
function wrap(text, columns) {
    const room = Math.max(2, columns);
    const lines = [];
    let line = '';
    for (const word of text.split(' ')) {
        const joined = line === '' ? word : `${line} ${word}`;
        if (width_textWidth(joined) <= room) {
            line = joined;
            continue;
        }
        if (line !== '')
            lines.push(line);
        line = word;
        while (width_textWidth(line) > room) {
            const part = take(line, room);
            lines.push(part);
            line = line.slice(part.length);
        }
    }
    return line === '' && lines.length > 0 ? lines : [...lines, line];
}
/** The longest start of the text that takes at most `columns`. */
function take(text, columns) {
    let taken = '';
    let used = 0;
    for (const { segment } of segmenter.segment(text)) {
        used += clusterWidth(segment);
        if (used > columns)
            break;
        taken += segment;
    }
    return taken;
}

// EXTERNAL MODULE: ./lib/report/words.js
var words = __webpack_require__(8191);
;// CONCATENATED MODULE: ./lib/report/terminal.js
// What a terminal and a job log show: the live header, a line for each thing that happens, and the final box.






const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, cyan: 36 };
/** Lines of a failing gate's output that are shown at once; the rest is in the log. */
const OUTPUT_LINES = 8;
function paint(text, colours, on) {
    if (!on || text === '' || colours.length === 0)
        return text;
    return `\u001b[${colours.map((colour) => CODES[colour]).join(';')}m${text}\u001b[0m`;
}
/** The live header: where the run stands, in lines of exactly `width` columns (at least 24, at most 100). */
function banner(state, limits, width, colour) {
    const inner = terminal_innerWidth(width);
    const { passed, blocked, skipped, total } = (0,prd_select/* counts */.tQ)(state.prd);
    const aside = [skipped > 0 ? `${skipped} skipped` : '', blocked > 0 ? `${blocked} blocked` : ''].filter((part) => part !== '');
    const fields = [
        ['Project', state.prd.project || state.feature],
        ['Branch', state.branch],
        ['Stories', `${passed}/${total} complete${aside.length === 0 ? '' : `, ${aside.join(', ')}`}`],
        ['Iteration', iterationOf(state, limits)],
        ['Cost', costOf(state, limits)],
        ['Agent time', (0,words/* humanMs */.o0)(state.prd.run.usage.agentSeconds * 1000)],
    ];
    const rows = inner >= 56 ? pairs(fields, inner, colour) : fields.map((field) => cell(field, inner, colour));
    const cells = inner >= 40 ? 10 : 5;
    const title = (0,report_escape/* terminalText */.eR)(titleInWork(state));
    const rest = ` ${passed}/${total}${title === '' ? '' : ` ${title}`}`;
    const live = `${paint((0,words/* bar */.M0)(passed, total, cells), ['green'], colour)}]${width_pad(rest, inner - cells - 2)}`;
    return boxed([...rows, `[${live}`], inner, ['cyan'], colour);
}
/** The header of a pipe or a log: one line, `ralph/auth: 4/6 stories, iteration 8/50, $1.42, working on US-005`. */
function plainBanner(state, limits) {
    const { passed, blocked, total } = (0,prd_select/* counts */.tQ)(state.prd);
    const work = (0,words/* storyInWork */.g7)(state);
    const parts = [
        `${passed}/${total} stories`,
        blocked > 0 ? `${blocked} blocked` : '',
        `iteration ${iterationOf(state, limits)}`,
        costOf(state, limits),
        work === null ? '' : `working on ${work}`,
    ];
    return (0,report_escape/* terminalText */.eR)(`${state.branch}: ${parts.filter((part) => part !== '').join(', ')}`);
}
function iterationOf(state, limits) {
    const { iterations } = state.prd.run;
    const now = state.attempt?.iteration ?? iterations;
    const left = (0,loop_limits/* iterationsLeft */.GC)(state, limits);
    return Number.isFinite(left) ? `${now}/${iterations + left}` : String(now);
}
function costOf(state, limits) {
    const { usage } = state.prd.run;
    const cost = usage.costUsd === 0 && usage.calls > 0 ? 'not reported' : (0,words/* costWords */.fL)(usage);
    const most = limits.maxCostUsd === null ? null : limits.maxCostUsd + state.control.granted.costUsd;
    return most === null ? cost : `${cost} of ${(0,words/* usd */.dR)(most)}`;
}
function titleInWork(state) {
    const id = (0,words/* storyInWork */.g7)(state);
    if (id === null)
        return '';
    return state.prd.userStories.find((story) => story.id === id)?.title || id;
}
function terminal_innerWidth(width) {
    return Math.min(100, Math.max(24, Math.floor(width) || 80)) - 4;
}
function boxed(rows, inner, colours, colour) {
    const line = '═'.repeat(inner + 2);
    const side = paint('║', colours, colour);
    const middle = rows.map((row) => `${side} ${row} ${side}`);
    return [paint(`╔${line}╗`, colours, colour), ...middle, paint(`╚${line}╝`, colours, colour)].join('\n');
}
function pairs(fields, inner, colour) {
    const left = Math.ceil(inner / 2);
    const rows = [];
    for (let at = 0; at < fields.length; at += 2) {
        const first = fields[at];
        const second = fields[at + 1];
        if (first === undefined)
            continue;
        rows.push(second === undefined
            ? cell(first, inner, colour)
            : `${cell(first, left - 2, colour)}  ${cell(second, inner - left, colour)}`);
    }
    return rows;
}
function cell([label, value], columns, colour) {
    const name = `${label}: `;
    return paint(name, ['dim'], colour) + width_pad((0,report_escape/* terminalText */.eR)(value), columns - name.length);
}
// Lines
/** What is said before a step is performed; nothing for most. */
function stepLines(step, state, facts, look) {
    switch (step.kind) {
        case 'prepare':
            return [line('prepare', 'running', look, ['dim'])];
        case 'baseline':
            return [line('baseline', `are the gates green on ${state.base.branch}?`, look, ['dim'])];
        case 'agent':
            return iterationLines(state, facts, look);
        case 'gates':
            return [line('gates', 'running', look, ['dim'])];
        case 'judge':
            return [
                line('judge', `nothing was changed: a fresh session judges whether ${step.attempt.storyId} is met`, look, ['dim']),
            ];
        case 'wait':
            return [waitLine(step.until, step.reason, look)];
        case 'verify':
            return [
                '',
                heading('Final verification', look),
                line('verify', 'all gates, then a fresh session judges every criterion', look, ['dim']),
            ];
        case 'join':
            return [line('git', `joining with ${step.theirs.slice(0, 7)}, which people pushed`, look)];
        case 'publish':
            return [line('git', `publishing ${state.branch}`, look, ['dim'])];
        default:
            return [];
    }
}
/** What is said of something that happened; `state` is the state after it. */
function eventLines(event, state, facts, look) {
    switch (event.kind) {
        case 'baselined':
            return gateLines(event.gates, look);
        case 'opened':
            return [line('git', `opened ${state.branch}${pullPart(state)}`, look)];
        case 'joined':
            return [line('git', `joined with what people pushed: ${event.green.slice(0, 7)}`, look)];
        case 'join-failed':
        case 'push-refused':
            return [line('git', event.summary, look, ['yellow'])];
        case 'worked':
            return [sessionLine(event.session.status, event.session.message, event.session.usage, facts, look)];
        case 'guarded':
            return event.remarks.map((remark) => line('guard', `note: ${remark}`, look, ['yellow']));
        case 'gated':
            return gateLines(event.gates, look);
        case 'judged':
            return [verdictLine('judge', event.verdict, event.usage, look)];
        case 'accepted':
            return acceptedLines(event.commit, state, look);
        case 'rejected':
            return rejectedLines(state, facts, look);
        case 'returned':
            return [
                line('ralph', `attempt given back, not charged: ${state.timeline.at(-1)?.summary ?? ''}`, look, [
                    'yellow',
                ]),
            ];
        case 'verified':
            return [...gateLines(event.gates, look), verdictLine('verify', event.verdict, event.usage, look)];
        case 'dispatched':
            return [
                line('ralph', `started the next job${event.runId === null ? '' : ` (run ${event.runId})`}`, look),
            ];
        case 'dispatch-failed':
            return [line('ralph', `the next job could not be started: ${event.summary}`, look, ['red'])];
        case 'interrupted':
            return [line('ralph', 'cancelled: putting things in order', look, ['yellow'])];
        case 'failed':
            return [line('ralph', event.summary, look, ['red', 'bold']), ...quoted(event.fix, look)];
        default:
            return [];
    }
}
/** `[tag] text` on one line. The text may be hostile; neither part can be a workflow command. */
function line(tag, text, look, colours = []) {
    const width = Math.max(20, look.width);
    const short = (0,report_escape/* terminalText */.eR)(tag, 40).replace(/[[\]]/g, '') || '-';
    const name = `[${look.plain ? short : width_fit(short, Math.floor(width / 3))}]`;
    const room = look.plain ? 2000 : width - width_textWidth(name) - 1;
    const shown = look.plain ? (0,report_escape/* terminalText */.eR)(text, room) : width_fit((0,report_escape/* terminalText */.eR)(text, room * 4), room);
    return `${paint(name, ['cyan'], look.colour)} ${paint(shown, colours, look.colour)}`;
}
/** What the agent says or does while it works: `[claude] Edit src/login.ts`. */
function agentLine(text, facts, look) {
    return line(facts.agent, text, look, ['dim']);
}
/** Something that people should know and that ends nothing. */
function warningLine(text, look) {
    return line('warning', text, look, ['yellow']);
}
/** `=== text ===`, as bold as the terminal can. */
function heading(text, look) {
    const room = look.plain ? 2000 : Math.max(20, look.width) - 8;
    const shown = look.plain ? (0,report_escape/* terminalText */.eR)(text, room) : width_fit((0,report_escape/* terminalText */.eR)(text, room * 4), room);
    return paint(`=== ${shown} ===`, ['bold'], look.colour);
}
function iterationLines(state, facts, look) {
    const { attempt } = state;
    if (attempt === null)
        return [];
    const story = state.prd.userStories.find((one) => one.id === attempt.storyId);
    const again = attempt.number > 1 ? ` (attempt ${attempt.number} of ${facts.limits.maxAttempts})` : '';
    const named = `Iteration ${attempt.iteration}: ${attempt.storyId} - ${story?.title ?? ''}`;
    const room = look.plain ? 2000 : Math.max(20, look.width) - 8 - again.length;
    const shown = look.plain ? (0,report_escape/* terminalText */.eR)(named) : width_fit((0,report_escape/* terminalText */.eR)(named), room);
    return ['', heading(shown + again, look), line(facts.agent, `working on ${attempt.storyId}`, look, ['dim'])];
}
function sessionLine(status, message, usage, facts, look) {
    const spent = spentPart(usage);
    if (status === 'finished')
        return line(facts.agent, `done${spent}`, look);
    const said = { failed: 'FAILED', limit: 'limit reached', overloaded: 'overloaded', auth: 'not logged in' };
    const word = status === 'interrupted' ? 'ended' : status === 'not-started' ? 'did not start' : said[status];
    return line(facts.agent, `${word}${message === '' ? '' : `: ${message}`}${spent}`, look, [
        status === 'failed' ? 'red' : 'yellow',
    ]);
}
function spentPart(usage) {
    const used = usage.inputTokens + usage.outputTokens;
    const parts = [
        usage.agentSeconds > 0 ? (0,words/* humanMs */.o0)(usage.agentSeconds * 1000) : '',
        usage.costUsd > 0 ? (0,words/* costWords */.fL)(usage) : '',
        used > 0 ? `${(0,words/* tokens */.LU)(used)} tokens` : '',
    ].filter((part) => part !== '');
    return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}
/** `[test] PASSED (14s)` for each gate; the output of those that failed below it. */
function gateLines(gates, look) {
    return gates.flatMap((gate) => {
        if (gate.ok)
            return [line(gate.name, `PASSED (${(0,words/* humanMs */.o0)(gate.ms)})`, look, ['green'])];
        const word = gate.advisory ? 'failed, advisory only' : 'FAILED';
        const head = line(gate.name, `${word} (${gate.ended}, ${(0,words/* humanMs */.o0)(gate.ms)})`, look, [
            gate.advisory ? 'yellow' : 'red',
        ]);
        return [head, ...quoted(gate.output, look)];
    });
}
function acceptedLines(commit, state, look) {
    const entry = state.timeline.at(-1);
    const sha = /^[0-9a-f]{7,64}$/.test(commit) ? commit.slice(0, 7) : 'the change';
    const took = entry === undefined ? '' : ` after ${(0,words/* humanMs */.o0)(entry.ms)}`;
    const which = entry === undefined ? 'story' : entry.storyId;
    const story = state.prd.userStories.find((one) => one.id === entry?.storyId);
    const how = story !== undefined && (0,words/* passedUnchanged */.IY)(story) ? `, ${words/* UNCHANGED */.ST}` : '';
    return [
        line('git', `committed ${sha}`, look),
        line('ralph', `${sign('✔', look)}${which} passes${took}${how}${look.plain ? ', ' : ' · '}${(0,words/* tally */.N4)(state)}`, look, ['green', 'bold']),
    ];
}
function rejectedLines(state, facts, look) {
    const entry = state.timeline.at(-1);
    const story = state.prd.userStories.find((one) => one.id === entry?.storyId);
    if (entry === undefined || story === undefined)
        return [];
    const failure = state.records[story.id]?.failure ?? null;
    const attempt = `attempt ${entry.attempt} of ${facts.limits.maxAttempts}`;
    const lines = [
        line('ralph', `${sign('✘', look)}${story.id} rejected (${attempt}): ${entry.summary}`, look, ['red']),
    ];
    // The output of gates was shown with the gates.
    if (failure !== null && failure.kind !== 'gates')
        lines.push(...quoted(failure.detail, look));
    if (story.blocked)
        lines.push(blockedLine(story.id, facts, look));
    return lines;
}
/** `US-003 is blocked: ...` with what a person can type. */
function blockedLine(storyId, facts, look) {
    const command = `${facts.voice === 'comment' ? '/' : ''}ralph retry ${storyId} -- <hint>`;
    return line('ralph', `${sign('■', look)}${storyId} is blocked: ${command}`, look, ['red', 'bold']);
}
function verdictLine(tag, verdict, usage, look) {
    const spent = spentPart(usage);
    switch (verdict.kind) {
        case 'verified':
            return line(tag, `VERIFIED: every criterion is met${spent}`, look, ['green']);
        case 'reset':
            return line(tag, `RESET ${verdict.stories.join(', ')}: ${verdict.reason}${spent}`, look, ['red']);
        case 'limit':
            return line(tag, `limit reached: ${verdict.message}${spent}`, look, ['yellow']);
        case 'refused':
            return line(tag, `the agent cannot judge: ${verdict.message}${spent}`, look, ['red']);
        case 'none':
            return line(tag, `no verdict: ${verdict.message}${spent}`, look, ['yellow']);
    }
}
/** `waiting until 14:05 UTC: ...`; `until` is epoch milliseconds. */
function waitLine(until, reason, look) {
    const why = reason === '' || reason.startsWith('waiting') ? '' : `: ${reason}`;
    return line('ralph', `waiting until ${(0,words/* utc */.n$)(until)}${why}`, look, ['yellow']);
}
/** The last lines of somebody's output, behind a bar, so that none begins a line of its own. */
function quoted(output, look) {
    const all = (0,report_escape/* plainLines */.y1)(output.slice(-20_000))
        .split('\n')
        .map((text) => text.replaceAll('\t', '  ').trimEnd())
        .filter((text) => text !== '');
    const telling = (0,excerpt/* tellingLine */.c)(all);
    const last = Math.max(0, all.length - OUTPUT_LINES);
    const start = telling < 0 ? last : Math.min(last, Math.max(0, telling - 1));
    const shown = all.slice(start, start + OUTPUT_LINES);
    const left = all.length - start - shown.length;
    const mark = look.plain ? '  | ' : '  │ ';
    const room = look.plain ? 500 : Math.max(20, look.width) - 4;
    const lines = shown.map((text) => {
        const indent = /^ */.exec(text)?.[0].slice(0, 16) ?? '';
        const said = indent + (0,report_escape/* terminalText */.eR)(text, 2000);
        return paint(mark + (look.plain ? said.slice(0, room) : width_fit(said, room)), ['dim'], look.colour);
    });
    const note = (count, where) => count > 0 ? [paint(`${mark}... ${(0,words/* many */._d)(count, 'line')} ${where}`, ['dim'], look.colour)] : [];
    return [...note(start, 'before'), ...lines, ...note(left, 'more')];
}
function sign(mark, look) {
    return look.plain ? '' : `${mark} `;
}
function pullPart(state) {
    return state.github.pullUrl === null ? '' : `, pull request ${state.github.pullUrl}`;
}
// The end
const ENDS = {
    complete: { title: 'COMPLETE', colour: 'green', sign: '✔' },
    stuck: { title: 'STUCK', colour: 'red', sign: '■' },
    'max-iterations': { title: 'LIMIT REACHED', colour: 'yellow', sign: '■' },
    budget: { title: 'BUDGET SPENT', colour: 'yellow', sign: '■' },
    paused: { title: 'PAUSED', colour: 'yellow', sign: '‖' },
    continued: { title: 'CONTINUED', colour: 'blue', sign: '»' },
    error: { title: 'ERROR', colour: 'red', sign: '✘' },
    interrupted: { title: 'INTERRUPTED', colour: 'yellow', sign: '■' },
};
/**
 * The last thing that is said: outcome, stories, cost, time, where to look and what to do next. `places` are names
 * and addresses to look at (`Report`, `/path/report.html`), in order.
 */
function outcomeSummary(state, conclusion, places, facts, look) {
    const end = ENDS[conclusion.outcome];
    const { run } = state.prd;
    const fields = [
        ['Stories', (0,words/* tally */.N4)(state)],
        ['Iterations', `${run.iterations} in ${(0,words/* many */._d)(Math.max(1, run.jobs), 'job')}`],
        [
            'Cost',
            `${costOf(state, facts.limits)}, ${(0,words/* tokens */.LU)(run.usage.inputTokens + run.usage.outputTokens)} tokens`,
        ],
        ['Agent time', (0,words/* humanMs */.o0)(run.usage.agentSeconds * 1000)],
        ...whereToLook(state, places),
        ['Next', (0,words/* spoken */.vg)((0,words/* nextMove */.lE)(state, conclusion.outcome, facts.voice, facts.limits))],
    ];
    const title = `${look.plain ? '' : `${end.sign} `}${end.title}`;
    const why = (0,report_escape/* terminalText */.eR)(conclusion.reason);
    if (look.plain) {
        return [
            paint(`=== ${title}${why === '' ? '' : `: ${why}`} ===`, ['bold', end.colour], look.colour),
            ...fields.map(([name, value]) => `${name}: ${(0,report_escape/* terminalText */.eR)(value, 1000)}`),
        ].join('\n');
    }
    const inner = terminal_innerWidth(look.width);
    const column = 12;
    const top = wrap(why, inner - width_textWidth(title) - 2).map((part, at) => `${at === 0 ? `${paint(title, ['bold', end.colour], look.colour)}  ` : ' '.repeat(width_textWidth(title) + 2)}${width_pad(part, inner - width_textWidth(title) - 2)}`);
    const rows = fields.flatMap(([name, value]) => wrap((0,report_escape/* terminalText */.eR)(value, 1000), inner - column).map((part, at) => {
        const label = width_pad(at === 0 ? `${name}:` : '', column);
        const shown = width_pad(part, inner - column);
        return (paint(label, ['dim'], look.colour) + (name === 'Next' ? paint(shown, ['bold'], look.colour) : shown));
    }));
    return boxed([...top, ' '.repeat(inner), ...rows], inner, [end.colour], look.colour);
}
function whereToLook(state, places) {
    const known = [['Branch', state.branch]];
    if (state.github.pullUrl !== null)
        known.push(['Look at', state.github.pullUrl]);
    return [...known, ...places.map(([name, value]) => [(0,report_escape/* terminalText */.eR)(name, 10), value])];
}
/** How the run stands, in one line: for titles and for `status`. */
function statusLine(state, look) {
    const text = (0,report_escape/* terminalText */.eR)((0,words/* headline */.Pl)(state, (0,words/* outcomeNow */.jL)(state)).text);
    return paint(look.plain ? text : width_fit(text, Math.max(20, look.width)), ['bold'], look.colour);
}
const STANDS = {
    passed: { sign: '✔', colour: 'green' },
    skipped: { sign: '-', colour: 'dim' },
    blocked: { sign: '■', colour: 'red' },
    working: { sign: '»', colour: 'cyan' },
    rejected: { sign: '✘', colour: 'yellow' },
    waiting: { sign: '·', colour: 'dim' },
    open: { sign: '○', colour: 'dim' },
};
/** Every story on a line: how it stands, id, title, attempts, cost and time. A blocked one says why below. */
function storyLines(state, look) {
    const stands = standings(state);
    const widths = state.prd.userStories.map((story) => textWidth(terminalText(story.id)));
    const column = widths.reduce((most, width) => Math.max(most, Math.min(width, look.width > 50 ? 16 : 8)), 0);
    return state.prd.userStories.flatMap((story) => {
        const standing = stands.get(story.id) ?? 'open';
        const { sign: mark, colour } = STANDS[standing];
        const name = look.plain ? standing.padEnd(8) : mark;
        const whole = look.plain ? 500 : Math.max(20, look.width) - name.length - column - 2;
        const spent = spentOn(state, story);
        const end = whole - spent.length < 12 ? '' : spent;
        const title = fit(terminalText(story.title), whole - end.length);
        const first = `${paint(name, [colour], look.colour)} ${pad(terminalText(story.id), column)} ${title}`;
        const shown = first + paint(end, ['dim'], look.colour);
        return standing === 'blocked' ? [shown, ...quoted(whyBlocked(state, story), look)] : [shown];
    });
}
function spentOn(state, story) {
    const record = state.records[story.id];
    const attempts = attemptsOf(state, story);
    const facts = [
        passedUnchanged(story) ? 'no change' : '',
        attempts > 0 ? many(attempts, 'attempt') : '',
        record !== undefined && record.usage.costUsd > 0 ? costWords(record.usage) : '',
        record !== undefined && record.ms > 0 ? humanMs(record.ms) : '',
    ].filter((part) => part !== '');
    return facts.length === 0 ? '' : ` (${facts.join(', ')})`;
}


/***/ })

};
