export const id = 721;
export const ids = [721];
export const modules = {

/***/ 7721:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  work: () => (/* binding */ work)
});

// EXTERNAL MODULE: external "node:fs/promises"
var promises_ = __webpack_require__(1455);
// EXTERNAL MODULE: external "node:path"
var external_node_path_ = __webpack_require__(6760);
// EXTERNAL MODULE: ./node_modules/@actions/core/lib/core.js + 20 modules
var core = __webpack_require__(3218);
// EXTERNAL MODULE: ./lib/claim.js
var claim = __webpack_require__(4787);
// EXTERNAL MODULE: ./lib/cli/live.js + 2 modules
var cli_live = __webpack_require__(2961);
// EXTERNAL MODULE: ./lib/git/filters.js
var filters = __webpack_require__(3811);
// EXTERNAL MODULE: ./lib/report/escape.js
var report_escape = __webpack_require__(2527);
// EXTERNAL MODULE: ./lib/loop/limits.js
var loop_limits = __webpack_require__(5756);
// EXTERNAL MODULE: ./lib/prd/select.js
var prd_select = __webpack_require__(2856);
// EXTERNAL MODULE: ./lib/report/words.js
var words = __webpack_require__(8191);
;// CONCATENATED MODULE: ./lib/report/parts.js
// The blocks that comment, summary, pull request and checks are made of. Pure: state and facts -> markdown.




/** A sign for how a story stands. */
const SIGNS = {
    passed: '✅',
    skipped: '⏩',
    blocked: '⛔',
    working: '🔨',
    rejected: '🔁',
    waiting: '⏳',
    open: '⬜',
};
const CELLS = [
    ['passed', '🟩'],
    ['skipped', '⬛'],
    ['working', '🟦'],
    ['rejected', '🟨'],
    ['blocked', '🟥'],
    ['waiting', '⬜'],
    ['open', '⬜'],
];
/** At most this many cells; up to it, a cell is a story. */
const LONGEST_BAR = 20;
/** A longer table is folded, and what matters now stands before it. */
const LONGEST_TABLE = 25;
/** `[text](url)` for an address of http; the text must be markdown already. Anything else is only the text. */
function parts_link(text, url) {
    if (url === null || url === undefined || !/^https?:\/\/[^\s\p{C}<>"`\\]+$/iu.test(url))
        return text;
    return `[${text}](${url.replace(/[()|*_[\]]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)})`;
}
/** A linked short commit id, or nothing where there is none. */
function commitLink(commit, repositoryUrl) {
    if (commit === null || !/^[0-9a-f]{7,64}$/.test(commit))
        return '';
    return parts_link(`\`${commit.slice(0, 7)}\``, `${repositoryUrl}/commit/${commit}`);
}
/** Where the run stands, as a heading of the given level. */
function headingOf(state, level) {
    const { sign, text } = (0,words/* headline */.Pl)(state, (0,words/* outcomeNow */.jL)(state));
    return `${'#'.repeat(level)} ${sign} ${(0,report_escape/* markdownText */.p7)(text, 400)}`;
}
/** A bar of coloured cells with the figures behind it. */
function progressBar(state) {
    const { passed, total } = (0,prd_select/* counts */.tQ)(state.prd);
    if (total === 0)
        return '';
    const found = new Map();
    for (const standing of (0,words/* standings */.ES)(state).values())
        found.set(standing, (found.get(standing) ?? 0) + 1);
    const kinds = CELLS.map(([standing, cell]) => ({ cell, stories: found.get(standing) ?? 0 }));
    const cells = kinds.map(({ stories }) => total <= LONGEST_BAR ? stories : Math.ceil((stories / total) * LONGEST_BAR));
    // Every kind keeps a cell, however few its stories are; the longest gives what is too much.
    for (let over = cells.reduce((sum, count) => sum + count, 0) - Math.min(total, LONGEST_BAR); over > 0; over -= 1) {
        const longest = cells.indexOf(Math.max(...cells));
        cells[longest] = (cells[longest] ?? 1) - 1;
    }
    return `${kinds.map(({ cell }, at) => cell.repeat(cells[at] ?? 0)).join('')} **${passed}/${total}**`;
}
const ALERTS = {
    complete: 'TIP',
    stuck: 'WARNING',
    'max-iterations': 'IMPORTANT',
    budget: 'IMPORTANT',
    paused: 'IMPORTANT',
    continued: null,
    error: 'WARNING',
    interrupted: 'IMPORTANT',
};
/** What to do next; in a frame where a person is waited for. */
function nextBlock(state, facts) {
    const outcome = (0,words/* outcomeNow */.jL)(state);
    const sentence = `**Next:** ${(0,words/* nextMove */.lE)(state, outcome, 'comment', facts.limits)}`;
    const alert = outcome === null || sentence.startsWith('**Next:** Nothing to do') ? null : ALERTS[outcome];
    return alert === null ? sentence : `> [!${alert}]\n> ${sentence}`;
}
/** The blocked stories with the reason and what to type, at most five of them; empty when none is. */
function blockedList(state) {
    const ids = (0,words/* blockedIds */.xf)(state);
    const lines = ids.slice(0, 5).map((id) => {
        const story = state.prd.userStories.find((one) => one.id === id);
        const after = story === undefined || story.retries === 0 ? '' : ` after ${(0,words/* many */._d)(story.retries, 'attempt')}`;
        const why = story === undefined ? '' : (0,report_escape/* markdownText */.p7)((0,words/* whyBlocked */.JV)(state, story), 200);
        const how = (0,words/* outcomeNow */.jL)(state) === 'stuck' ? '' : ` → ${(0,report_escape/* code */.aY)(`/ralph retry ${id} -- <hint>`)}`;
        return `- ${SIGNS.blocked} ${(0,report_escape/* bold */.Cr)((0,report_escape/* markdownText */.p7)(id, 64))} is blocked${after}${why === '' ? '' : `: ${why}`}${how}`;
    });
    if (ids.length > 5)
        lines.push(`- ${(0,words/* many */._d)(ids.length - 5, 'more blocked story', 'more blocked stories')}: ${(0,report_escape/* code */.aY)('/ralph retry all')}`);
    return lines.join('\n');
}
/** Things to tell that are not in the state, at most ten. */
function notesList(facts) {
    return facts.notes
        .slice(0, 10)
        .map((note) => `- ℹ️ ${(0,report_escape/* markdownText */.p7)(note)}`)
        .join('\n');
}
/** Cost, tokens, time, iterations, jobs, and what the rest may cost at most. */
function spending(state, facts) {
    const { run } = state.prd;
    const { limits } = facts;
    const allowed = limits.maxCostUsd === null ? '' : ` of ${(0,words/* usd */.dR)(limits.maxCostUsd + state.control.granted.costUsd)}`;
    const used = run.usage.inputTokens + run.usage.outputTokens;
    const tokenLimit = limits.maxTokens === null ? '' : ` of ${(0,words/* tokens */.LU)(limits.maxTokens)}`;
    const timeLimit = limits.maxAgentTimeMs === null ? '' : ` of ${(0,words/* humanMs */.o0)(limits.maxAgentTimeMs)}`;
    const left = (0,loop_limits/* iterationsLeft */.GC)(state, limits);
    const most = Number.isFinite(left) ? ` of ${run.iterations + left}` : '';
    const cells = [
        [
            'Cost',
            run.usage.costUsd === 0 && run.usage.calls > 0
                ? 'not reported'
                : `**${(0,words/* costWords */.fL)(run.usage)}**${allowed}`,
        ],
        ['Tokens', `${(0,words/* tokens */.LU)(used)}${tokenLimit}`],
        ['Agent time', `${(0,words/* humanMs */.o0)(run.usage.agentSeconds * 1000)}${timeLimit}`],
        ['Iterations', `${run.iterations}${most}`],
        ['Jobs', `${run.jobs} of ${limits.maxJobs}`],
    ];
    const table = [
        row(cells.map(([name]) => name ?? '')),
        row(cells.map(() => ':--')),
        row(cells.map(([, value]) => value ?? '')),
    ];
    const outcome = (0,words/* outcomeNow */.jL)(state);
    const worst = outcome === 'complete' || outcome === 'stuck' ? null : (0,words/* worstCase */.wB)(state, limits);
    return `${table.join('\n')}${worst === null ? '' : `\n\n**At worst:** ${worst}.`}`;
}
/** A row of a table; the cells are markdown already and hold no bare `|`. */
function row(cells) {
    return `| ${cells.join(' | ')} |`;
}
/** A time that is not broken over two lines. */
function timeCell(ms) {
    return (0,words/* humanMs */.o0)(ms).replace(' ', '&nbsp;');
}
/** The stories: up to 25 in a table, more of them folded below those that matter now, in at most `room` characters. */
function storyTable(state, facts, room) {
    const { userStories } = state.prd;
    if (userStories.length === 0)
        return '';
    const stands = (0,words/* standings */.ES)(state);
    const rows = new Map(userStories.map((story) => [story.id, storyRow(state, story, stands, facts)]));
    const table = (stories) => [...STORY_HEAD, ...stories.map((story) => rows.get(story.id) ?? '')].join('\n');
    const whole = table(userStories);
    if (userStories.length <= LONGEST_TABLE && whole.length <= room)
        return whole;
    const now = fitting(mattersNow(userStories, stands), rows, room - 400);
    const first = table(now);
    const before = `${first}\n\n<details><summary>All ${userStories.length} stories</summary>\n\n`;
    const after = '\n\n</details>';
    const shown = fitting(userStories, rows, room - before.length - after.length - 200);
    const left = userStories.length - shown.length;
    const note = left === 0 ? '' : `\n\n${leftOut(userStories.slice(shown.length), stands)}`;
    return shown.length === 0
        ? `${first}\n\n${leftOut(userStories, stands)}`
        : `${before}${table(shown)}${note}${after}`;
}
const STORY_HEAD = [
    row(['', 'Story', 'Attempts', 'Cost', 'Time', 'Commit']),
    row([':-:', ':--', '--:', '--:', '--:', ':--']),
];
function storyRow(state, story, stands, facts) {
    const standing = stands.get(story.id) ?? 'open';
    const record = state.records[story.id];
    const attempts = (0,words/* attemptsOf */.Or)(state, story);
    const aside = asideOf(state, story, standing, stands);
    const cost = record === undefined || record.usage.costUsd === 0 ? '' : (0,words/* costWords */.fL)(record.usage);
    const time = record === undefined || record.ms === 0 ? '' : timeCell(record.ms);
    const name = `${(0,report_escape/* bold */.Cr)((0,report_escape/* markdownText */.p7)(story.id, 64))} ${(0,report_escape/* markdownText */.p7)(story.title, 120)}`;
    return row([
        SIGNS[standing],
        aside === '' ? name : `${name}<br><sub>${aside}</sub>`,
        attempts === 0 ? '' : String(attempts),
        cost,
        time,
        story.passes ? commitLink(record?.commit ?? story.lastResult?.commit ?? null, facts.repositoryUrl) : '',
    ]);
}
/** What the sign alone does not say. */
function asideOf(state, story, standing, stands) {
    switch (standing) {
        case 'passed':
            if (story.lastResult?.imported === true)
                return 'had passed before Ralph began; no gate has seen it';
            return (0,words/* passedUnchanged */.IY)(story) ? words/* UNCHANGED */.ST : '';
        case 'skipped':
            return 'skipped by a person';
        case 'blocked':
            return `blocked: ${(0,report_escape/* markdownText */.p7)((0,words/* whyBlocked */.JV)(state, story), 160)}`;
        case 'working':
            return 'in work now';
        case 'rejected':
            return `to be tried again: ${(0,report_escape/* markdownText */.p7)(state.records[story.id]?.failure?.summary ?? story.notes, 160)}`;
        case 'waiting': {
            const open = story.dependsOn.filter((id) => stands.get(id) !== 'passed' && stands.get(id) !== 'skipped');
            const more = open.length > 3 ? ` and ${open.length - 3} more` : '';
            return `waits for ${open
                .slice(0, 3)
                .map((id) => (0,report_escape/* markdownText */.p7)(id, 64))
                .join(', ')}${more}`;
        }
        case 'open':
            return '';
    }
}
/** What changed last, what needs a person, what is in work and what comes next: at most 16 stories, in their order. */
function mattersNow(stories, stands) {
    const of = (...wanted) => stories.filter((story) => wanted.includes(stands.get(story.id) ?? 'open'));
    const passed = of('passed').sort((one, other) => (one.lastResult?.iteration ?? 0) - (other.lastResult?.iteration ?? 0));
    const chosen = new Set([
        ...of('working'),
        ...of('blocked').slice(0, 5),
        ...of('rejected').slice(0, 4),
        ...passed.slice(-3),
        ...of('open').slice(0, 3),
    ]);
    return stories.filter((story) => chosen.has(story));
}
function fitting(stories, rows, room) {
    let used = STORY_HEAD.join('\n').length;
    const end = stories.findIndex((story) => {
        used += (rows.get(story.id) ?? '').length + 1;
        return used > room;
    });
    return end === -1 ? [...stories] : stories.slice(0, end);
}
function leftOut(stories, stands) {
    const found = new Map();
    for (const story of stories) {
        const standing = stands.get(story.id) ?? 'open';
        found.set(standing, (found.get(standing) ?? 0) + 1);
    }
    const kinds = [...found].map(([standing, count]) => `${SIGNS[standing]} ${count} ${WORDS[standing]}`);
    return `… and ${(0,words/* many */._d)(stories.length, 'story', 'stories')} more: ${kinds.join(', ')}`;
}
const WORDS = {
    passed: 'passed',
    skipped: 'skipped',
    blocked: 'blocked',
    working: 'in work',
    rejected: 'to be tried again',
    waiting: 'waiting',
    open: 'open',
};
/** Gates and their results as a table. */
function gateTable(gates) {
    if (gates.length === 0)
        return '';
    const rows = gates.slice(0, 50).map((gate) => {
        const result = gate.ok
            ? '✅ passed'
            : `${gate.advisory ? '⚠️' : '❌'} ${(0,report_escape/* markdownText */.p7)(gate.ended, 80)}${gate.advisory ? ' (advisory)' : ''}`;
        return row([(0,report_escape/* markdownText */.p7)(gate.name, 60), result, timeCell(gate.ms)]);
    });
    return [row(['Gate', 'Result', 'Time']), row([':--', ':--', '--:']), ...rows].join('\n');
}
/** What the last failure of a record looked like: its gates, and the output of the one that failed, bounded. */
function failureBlock(record, maxChars) {
    const red = record.gates.find((gate) => !gate.ok && !gate.advisory);
    const output = (red?.output.trim() ? red.output : record.failure?.detail) ?? '';
    const parts = [gateTable(record.gates), output.trim() === '' ? '' : (0,report_escape/* codeBlock */.DV)(output, maxChars)];
    return parts.filter((part) => part !== '').join('\n\n');
}
/** The newest failure that no later attempt has mended, folded; empty when there is none. */
function lastFailure(state, maxChars) {
    const entry = state.timeline.findLast(({ storyId, result }) => (result === 'rejected' || result === 'reset') && (state.records[storyId]?.failure ?? null) !== null);
    const record = entry === undefined ? undefined : state.records[entry.storyId];
    if (entry === undefined || record === undefined)
        return '';
    const title = `Last failure: ${(0,report_escape/* markdownText */.p7)(entry.storyId, 64)}, ${(0,report_escape/* markdownText */.p7)(record.failure?.summary ?? entry.summary, 200)}`;
    const body = failureBlock(record, maxChars);
    return body === '' ? '' : folded(title, body);
}
/** A folded block; the title must be escaped already. */
function folded(title, body, open = false) {
    return `<details${open ? ' open' : ''}><summary>${title}</summary>\n\n${body}\n\n</details>`;
}
const RESULTS = {
    passed: '✅&nbsp;passed',
    rejected: '❌&nbsp;rejected',
    returned: '↩️&nbsp;given&nbsp;back',
    reset: '🔁&nbsp;reset',
};
/** The iterations in their order, the newest last; at most the last 200. */
function timelineTable(state) {
    if (state.timeline.length === 0)
        return '';
    const rows = state.timeline
        .slice(-200)
        .map((entry) => row([
        String(entry.iteration),
        (0,report_escape/* markdownText */.p7)(entry.storyId, 64),
        String(entry.attempt),
        RESULTS[entry.result],
        (0,report_escape/* markdownText */.p7)(entry.summary, 200),
        entry.costUsd > 0 ? (0,words/* usd */.dR)(entry.costUsd) : '',
        entry.tokens > 0 ? (0,words/* tokens */.LU)(entry.tokens) : '',
        timeCell(entry.ms),
        String(entry.job),
        (0,words/* utc */.n$)(entry.at).replace(' UTC', '').replace(' ', '&nbsp;'),
    ]));
    const names = ['#', 'Story', 'Attempt', 'Result', 'Why', 'Cost', 'Tokens', 'Time', 'Job', 'When (UTC)'];
    return [
        row(names),
        row(['--:', ':--', '--:', ':--', ':--', '--:', '--:', '--:', '--:', ':--']),
        ...rows,
    ].join('\n');
}
/** What each job did and used, where there was more than one; sessions of the judge are in the total alone. */
function jobsTable(state) {
    const jobs = [...new Set(state.timeline.map((entry) => entry.job))];
    if (jobs.length < 2)
        return '';
    const rows = jobs.map((job) => {
        const own = state.timeline.filter((entry) => entry.job === job);
        const sum = (of) => own.reduce((total, entry) => total + of(entry), 0);
        const charged = own.filter((entry) => entry.result === 'passed' || entry.result === 'rejected');
        const passed = own.filter((entry) => entry.result === 'passed');
        const cost = sum((entry) => entry.costUsd);
        return row([
            String(job),
            String(charged.length),
            String(passed.length),
            cost > 0 ? (0,words/* usd */.dR)(cost) : '',
            (0,words/* tokens */.LU)(sum((entry) => entry.tokens)),
            timeCell(sum((entry) => entry.ms)),
        ]);
    });
    const names = ['Job', 'Iterations', 'Passed', 'Cost', 'Tokens', 'Time'];
    return [row(names), row(names.map(() => '--:')), ...rows].join('\n');
}
/** When this was written and where to look further, in small letters. */
function footer(state, facts) {
    const parts = [
        `Updated ${(0,words/* utc */.n$)(facts.now)}`,
        facts.runUrl === null ? '' : parts_link('this job', facts.runUrl),
        parts_link(facts.compareUrl ? 'the changes' : '', facts.compareUrl),
        `state in ${(0,report_escape/* code */.aY)(state.folder, 200)}`,
    ];
    return `<sub>${parts.filter((part) => part !== '').join(' · ')}</sub>`;
}
/** The blocks one below the other; those that are empty are left out. */
function stacked(blocks) {
    return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

;// CONCATENATED MODULE: ./lib/report/graph.js



const MOST_STORIES = 60;
/** GitHub draws at most 500 edges; a graph of that many says nothing any more. */
const MOST_EDGES = 200;
// Readable on light and on dark pages: every class brings its own text colour.
const STYLES = {
    passed: 'fill:#1a7f37,stroke:#116329,color:#ffffff',
    skipped: 'fill:#eaeef2,stroke:#8c959f,color:#57606a,stroke-dasharray:4 3',
    blocked: 'fill:#cf222e,stroke:#a40e26,color:#ffffff',
    working: 'fill:#0969da,stroke:#0550ae,color:#ffffff',
    rejected: 'fill:#9a6700,stroke:#7d4e00,color:#ffffff',
    waiting: 'fill:#f6f8fa,stroke:#8c959f,color:#57606a',
    open: 'fill:#ffffff,stroke:#57606a,color:#24292f',
};
/** The fenced diagram of the stories that depend on others; null without dependencies, or with too many to be seen. */
function dependencyGraph(state) {
    const { userStories } = state.prd;
    if (userStories.length > MOST_STORIES)
        return null;
    const places = new Map(userStories.map((story, at) => [story.id, at]));
    const edges = userStories.flatMap((story, to) => [...new Set(story.dependsOn)].flatMap((id) => {
        const from = places.get(id);
        return from === undefined ? [] : [{ from, to }];
    }));
    if (edges.length === 0 || edges.length > MOST_EDGES)
        return null;
    const drawn = new Set(edges.flatMap(({ from, to }) => [from, to]));
    const stands = (0,words/* standings */.ES)(state);
    const used = new Set();
    const nodes = userStories.flatMap((story, at) => {
        if (!drawn.has(at))
            return [];
        const standing = stands.get(story.id) ?? 'open';
        used.add(standing);
        const label = `${SIGNS[standing]} ${(0,report_escape/* mermaidText */.Hg)(story.id, 64)}<br/>${(0,report_escape/* mermaidText */.Hg)(story.title, 48)}`;
        return [`  ${(0,report_escape/* mermaidId */.jf)(at)}["${label}"]:::${standing}`];
    });
    const arrows = edges.map(({ from, to }) => `  ${(0,report_escape/* mermaidId */.jf)(from)} --> ${(0,report_escape/* mermaidId */.jf)(to)}`);
    const classes = [...used].sort().map((standing) => `  classDef ${standing} ${STYLES[standing]}`);
    return ['```mermaid', 'graph LR', ...nodes, ...arrows, ...classes, '```'].join('\n');
}

// EXTERNAL MODULE: ./lib/report/replies.js
var replies = __webpack_require__(7542);
;// CONCATENATED MODULE: ./lib/report/markdown.js





/** Characters (UTF-16 units) that a comment or a pull request's text may have (facts/github-actions 5.1). */
const MOST_CHARACTERS = 65_000;
/** Bytes (UTF-8) of a job summary; above 1 MiB the runner drops all of it (facts/github-actions 1.5). */
const MOST_SUMMARY_BYTES = 900_000;
/** The first line of the sticky comment: found again by it and by its author, who must be us. */
function stickyMarker(feature) {
    return `<!-- ralph:sticky:${feature.replace(/[^\w.+-]/g, '-')} -->`;
}
/** The one comment of a feature, at most 65,000 characters however many stories there are. */
function stickyComment(state, facts) {
    const graph = dependencyGraph(state);
    const blocks = (room, rich) => [
        `${stickyMarker(state.feature)}\n${headingOf(state, 3)}`,
        progressBar(state),
        nextBlock(state, facts),
        blockedList(state),
        errorBlock(state),
        notesList(facts),
        storyTable(state, facts, room),
        graph === null || !rich ? '' : folded('What depends on what', graph, graphOpen(state)),
        spending(state, facts),
        rich ? lastFailure(state, 8000) : '',
        folded('What you can type', (0,replies/* commandTable */.Eg)()),
        footer(state, facts),
    ];
    return fitted((room) => {
        // Where it gets narrow, the graph and the output go before the stories do.
        const rich = room >= 30_000;
        return stacked(blocks(Math.floor(room * 0.6), rich));
    }, MOST_CHARACTERS, (text) => text.length);
}
/** The summary of a job's page: the same, and every iteration. At most 900,000 bytes. */
function jobSummary(state, facts) {
    const graph = dependencyGraph(state);
    const timeline = timelineTable(state);
    const jobs = jobsTable(state);
    return fitted((room) => stacked([
        headingOf(state, 2),
        progressBar(state),
        nextBlock(state, facts),
        blockedList(state),
        errorBlock(state),
        notesList(facts),
        storyTable(state, facts, Math.floor(room / 3)),
        graph === null ? '' : folded('What depends on what', graph, graphOpen(state)),
        spending(state, facts),
        timeline === '' ? '' : `#### Iterations\n\n${timeline}`,
        jobs === '' ? '' : `#### Jobs\n\n${jobs}`,
        lastFailure(state, 30_000),
        footer(state, facts),
    ]), MOST_SUMMARY_BYTES, utf8Bytes);
}
/** A graph that can be taken in at a glance stands open, as long as something is still to come. */
function graphOpen(state) {
    return state.prd.userStories.length <= 12 && (0,words/* outcomeNow */.jL)(state) !== 'complete';
}
/** What ended the job with an error, where there is more to tell than one line. */
function errorBlock(state) {
    const { conclusion, error } = state.job;
    if (conclusion?.outcome !== 'error' || error === null || !error.fix.trim().includes('\n'))
        return '';
    return folded('What was seen', (0,report_escape/* codeBlock */.DV)(error.fix, 6000));
}
/** What `render` makes with as much room as fits into `most` by the measure; it gets less until it fits. */
function fitted(render, most, measure) {
    let room = most;
    for (let turn = 0; turn < 12; turn += 1) {
        const text = render(room);
        const size = measure(text);
        if (size <= most)
            return text;
        room = Math.floor(Math.min(room * 0.8, room * (most / size)));
    }
    // Never reached with texts of ours; a cut report is still better than a refused one.
    return render(0).slice(0, Math.floor(most / 4));
}
/** Bytes of a text in UTF-8. */
function utf8Bytes(text) {
    return new TextEncoder().encode(text).length;
}

;// CONCATENATED MODULE: ./lib/report/checks.js




/** Bytes that summary and text may have each (facts/github-actions 4.1), with a margin. */
const MOST_BYTES = 65_000;
const MOST_TITLE = 255;
/** Annotations that a request may carry. */
const MOST_ANNOTATIONS = 50;
/** The roll-up check: one name to require or to watch. None is left open when the chain has ended. */
function rollupCheck(state, facts) {
    const outcome = endOf(state, facts);
    const summary = (room) => stacked([
        progressBar(state),
        nextBlock(state, facts),
        firstPart(blockedList(state), room),
        notesList(facts),
        runLink(facts),
    ]);
    return check('ralph', outcome === null ? null : ROLLUP[outcome], (0,words/* headline */.Pl)(state, (0,words/* outcomeNow */.jL)(state)).text, {
        summary,
        text: (room) => stacked([
            storyTable(state, facts, Math.floor(room * 0.5)),
            spending(state, facts),
            lastFailure(state, Math.floor(room * 0.15)),
            firstPart(timelineTable(state), Math.floor(room * 0.25)),
        ]),
    });
}
const ROLLUP = {
    complete: 'success',
    stuck: 'failure',
    'max-iterations': 'failure',
    budget: 'failure',
    error: 'failure',
    paused: 'action_required',
    // Only where nothing was dispatched: the chain waits for somebody to run it again.
    continued: 'action_required',
    interrupted: 'cancelled',
};
/** The check of one story. A failed attempt that will be followed by another is in progress while the chain goes on. */
function storyCheck(state, storyId, facts) {
    const name = `ralph / ${(0,report_escape/* plainText */.wh)(storyId, 64)}`;
    const story = state.prd.userStories.find((one) => one.id === storyId);
    if (story === undefined) {
        return check(name, 'neutral', 'This story is not in prd.json any more', {
            summary: () => '',
            text: () => '',
        });
    }
    const { conclusion, word, detail } = standOf(state, story, facts);
    const title = `${detail === undefined ? word : `${word}: ${detail}`} · ${story.title}`;
    return check(name, conclusion, title, {
        summary: () => storySummary(state, story, word, facts),
        text: (room) => storyText(state, story, room),
    }, conclusion === 'success' ? [] : (facts.annotations?.[storyId] ?? []));
}
/** The outcome that ended the chain; null while it goes on. */
function endOf(state, facts) {
    const outcome = (0,words/* outcomeNow */.jL)(state);
    return outcome === 'continued' && (facts.limits.redispatch || state.job.dispatched) ? null : outcome;
}
function standOf(state, story, facts) {
    if (story.passes) {
        const at = (0,words/* attemptsOf */.Or)(state, story);
        const imported = story.lastResult?.imported === true;
        const how = (0,words/* passedUnchanged */.IY)(story) ? ` ${words/* UNCHANGED */.ST}` : '';
        return {
            conclusion: 'success',
            word: imported
                ? 'Passed before Ralph began'
                : `Passed at ${at > 1 ? `attempt ${at}` : 'the first attempt'}${how}`,
        };
    }
    if (story.skipped)
        return { conclusion: 'skipped', word: 'Skipped by a person' };
    if (story.blocked) {
        const tries = story.retries === 0 ? '' : ` after ${(0,words/* many */._d)(story.retries, 'attempt')}`;
        return { conclusion: 'failure', word: `Blocked${tries}`, detail: `/ralph retry ${story.id} -- <hint>` };
    }
    const end = endOf(state, facts);
    const failed = state.records[story.id]?.failure ?? null;
    if (end === null) {
        if ((0,words/* storyInWork */.g7)(state) === story.id)
            return { conclusion: null, word: `In work, attempt ${state.attempt?.number ?? 1}` };
        const word = failed === null ? 'To be worked on' : `Attempt ${story.retries} was rejected, to be tried again`;
        return { conclusion: null, word };
    }
    if (end === 'interrupted')
        return { conclusion: 'cancelled', word: 'Cancelled, not done' };
    if (end === 'paused' || end === 'continued')
        return { conclusion: 'action_required', word: 'Not done' };
    if (failed === null)
        return { conclusion: 'cancelled', word: 'Not done' };
    return { conclusion: 'failure', word: 'Not done', detail: failed.summary };
}
function storySummary(state, story, word, facts) {
    const record = state.records[story.id];
    const figures = [
        record !== undefined && record.usage.costUsd > 0 ? (0,words/* costWords */.fL)(record.usage) : '',
        record !== undefined && record.ms > 0 ? (0,words/* humanMs */.o0)(record.ms) : '',
        story.passes ? commitLink(record?.commit ?? story.lastResult?.commit ?? null, facts.repositoryUrl) : '',
    ].filter((part) => part !== '');
    const why = story.passes || story.skipped ? '' : (0,words/* whyBlocked */.JV)(state, story);
    return stacked([
        `${(0,report_escape/* bold */.Cr)((0,report_escape/* markdownText */.p7)(story.id, 64))} ${(0,report_escape/* markdownText */.p7)(story.title, 300)}`,
        [(0,report_escape/* markdownText */.p7)(word, 100), ...figures].join(' · '),
        why === '' ? '' : `**Why:** ${(0,report_escape/* markdownText */.p7)(why)}`,
        story.blocked && !story.passes && !story.skipped
            ? `**Next:** say what is missing, ${(0,report_escape/* code */.aY)(`/ralph retry ${story.id} -- <hint>`)}, or leave it out, ${(0,report_escape/* code */.aY)(`/ralph skip ${story.id}`)}.`
            : '',
        `${(0,words/* tally */.N4)(state)}.`,
        runLink(facts),
    ]);
}
function storyText(state, story, room) {
    const record = state.records[story.id];
    const criteria = story.acceptanceCriteria
        .slice(0, 40)
        .map((criterion) => `- ${(0,report_escape/* markdownText */.p7)(criterion, 300)}`);
    const remarks = (record?.remarks ?? []).slice(0, 40).map((remark) => `- ⚠️ ${(0,report_escape/* markdownText */.p7)(remark)}`);
    return stacked([
        record === undefined ? '' : failureBlock(record, Math.floor(room * 0.6)),
        remarks.length === 0
            ? ''
            : `#### Look at this when you review\n\n${firstPart(remarks.join('\n'), Math.floor(room * 0.15))}`,
        criteria.length === 0
            ? ''
            : `#### Acceptance criteria\n\n${firstPart(criteria.join('\n'), Math.floor(room * 0.2))}`,
    ]);
}
function check(name, conclusion, title, output, annotations = []) {
    return {
        name,
        status: conclusion === null ? 'in_progress' : 'completed',
        conclusion,
        title: (0,report_escape/* titleText */.Qw)(title, MOST_TITLE),
        summary: fitted(output.summary, MOST_BYTES, utf8Bytes),
        text: fitted(output.text, MOST_BYTES, utf8Bytes),
        annotations: annotations.map(bounded).filter(isFit).slice(0, MOST_ANNOTATIONS),
    };
}
/** GitHub refuses the whole request for one bad annotation. */
function isFit({ path, start_line, end_line, message }) {
    const lines = Number.isSafeInteger(start_line) &&
        Number.isSafeInteger(end_line) &&
        start_line >= 1 &&
        end_line >= start_line;
    return (lines &&
        message.trim() !== '' &&
        path.length <= 1000 &&
        /^(?!\/|\.\.?\/)[^\p{Cc}\\]+$/u.test(path) &&
        !path.includes('/../'));
}
function bounded(annotation) {
    return { ...annotation, message: (0,report_escape/* cut */.Jj)((0,report_escape/* plainLines */.y1)(annotation.message), 4000) };
}
/** Whole lines from the start, in at most `room` characters, with a last line that says when some are missing. */
function firstPart(text, room) {
    if (text.length <= room)
        return text;
    const end = text.lastIndexOf('\n', Math.max(0, room - 40));
    const shown = end <= 0 ? '' : text.slice(0, end);
    return `${shown}\n\n… and ${(0,words/* many */._d)(text.slice(shown.length).trim().split('\n').length, 'line')} more`;
}
function runLink(facts) {
    return facts.runUrl === null ? '' : parts_link('The job and its log', facts.runUrl);
}
/** The same as a commit status, where checks are refused; a description has at most 140 characters. */
function statusOf(from) {
    const { name, conclusion, title } = from;
    return {
        context: name,
        state: conclusion === null ? 'pending' : STATUSES[conclusion],
        description: (0,report_escape/* titleText */.Qw)(title, 140),
    };
}
const STATUSES = {
    success: 'success',
    neutral: 'success',
    skipped: 'success',
    failure: 'failure',
    cancelled: 'error',
    // It waits for a person.
    action_required: 'pending',
};

// EXTERNAL MODULE: ./lib/github/client.js + 21 modules
var client = __webpack_require__(1666);
;// CONCATENATED MODULE: ./lib/github/checks.js



/** Annotations that one request may carry (facts 4.1); more are appended by further ones. */
const ANNOTATIONS = 50;
const MOVED_ON = 'Look at the newest commit of the branch.';
const KILLED = `The job was ended before it could say how it stands; every finished iteration is saved. Go on with ${(0,report_escape/* code */.aY)('/ralph run')} or *Run workflow*. A job that nobody stopped goes on by itself where the hourly ${(0,report_escape/* code */.aY)('resume-lost')} workflow is set up.`;
/** Failures in a row after which GitHub is taken to be away: each costs all the retries. */
const MOST_FAILURES = 2;
function createChecks(api, place, how, key, warn) {
    const { owner, repo } = place;
    let mode = how;
    /** A token that has posted one check may post checks: a later 403 is no missing permission. */
    let works = false;
    /** Ids of our checks by commit and name; filled by one listing a commit. */
    const known = new Map();
    async function listed(sha) {
        const before = known.get(sha);
        if (before !== undefined)
            return before;
        const found = new Map();
        const runs = await api.paginate(api.rest.checks.listForRef, {
            owner,
            repo,
            ref: sha,
            filter: 'latest',
            per_page: 100,
        });
        for (const run of runs) {
            if (run.external_id?.startsWith(`ralph:${key}:`) === true)
                found.set(run.name, { id: Number(run.id), open: run.status !== 'completed' });
        }
        known.set(sha, found);
        return found;
    }
    async function postCheck(sha, check) {
        const all = await listed(sha);
        const output = { title: check.title, summary: check.summary, text: check.text };
        const state = check.conclusion === null
            ? { status: 'in_progress' }
            : { status: 'completed', conclusion: check.conclusion };
        const annotations = check.annotations.slice(0, ANNOTATIONS);
        const before = all.get(check.name);
        // Also a completed one: `status: in_progress` opens it again and clears its conclusion (facts 4.1).
        const shown = { ...state, output: { ...output, annotations } };
        if (before !== undefined) {
            const isGone = await api.rest.checks.update({ owner, repo, check_run_id: before.id, ...shown }).then(() => false, (error) => {
                if ((0,client/* statusOf */.c2)(error) === 404)
                    return true;
                throw error;
            });
            if (!isGone) {
                before.open = check.conclusion === null;
                return;
            }
        }
        await create(sha, check.name, shown);
    }
    /** After an unknown answer the check is looked up before it is posted once more. */
    async function create(sha, name, shown) {
        for (let isLast = false;; isLast = true) {
            try {
                const wanted = { owner, repo, name, head_sha: sha, external_id: `ralph:${key}:${name}`, ...shown };
                const made = await api.rest.checks.create({ ...wanted, ...client/* ONCE */.ET });
                known.get(sha)?.set(name, { id: Number(made.data.id), open: shown.status !== 'completed' });
                return;
            }
            catch (error) {
                if (!(0,client/* isUnknown */.t8)(error))
                    throw error;
                known.delete(sha);
                if ((await listed(sha)).has(name))
                    return;
                if (isLast)
                    throw error;
            }
        }
    }
    /** Posts one, as a check or as a status. Throws what is no missing permission. */
    async function postOne(sha, check) {
        if (mode === 'checks') {
            try {
                await postCheck(sha, check);
                works = true;
                return;
            }
            catch (error) {
                if (works || !(0,client/* isForbidden */.US)(error))
                    throw error;
                warn('checks are refused (permissions: checks: write is missing): statuses are tried instead');
                mode = 'statuses';
            }
        }
        try {
            await postStatus(sha, check);
        }
        catch (error) {
            if (!(0,client/* isForbidden */.US)(error))
                throw error;
            warn(how === 'statuses'
                ? 'statuses may not be posted: the job needs permissions: statuses: write'
                : 'neither checks nor statuses may be posted: the job needs permissions: checks: write');
            mode = 'none';
        }
    }
    /** As `cancelled`: a `neutral` one would satisfy who requires it, where the commit is or becomes the head after all. */
    async function end(one, title, summary) {
        const done = { status: 'completed', conclusion: 'cancelled' };
        await api.rest.checks.update({ owner, repo, check_run_id: one.id, ...done, output: { title, summary } });
        one.open = false;
    }
    async function postStatus(sha, check) {
        await api.rest.repos.createCommitStatus({ owner, repo, sha, ...statusOf(check) });
    }
    return {
        async post(sha, checks) {
            await each(checks, async (check) => {
                if (mode !== 'none')
                    await postOne(sha, check);
            });
        },
        async close(sha, name, title) {
            if (mode !== 'checks')
                return;
            const before = (await listed(sha)).get(name);
            if (before?.open === true)
                await end(before, title, KILLED);
        },
        async closeAll(sha, title) {
            if (mode !== 'checks')
                return;
            const open = [...(await listed(sha)).values()].filter((one) => one.open);
            await each(open, (one) => end(one, title, MOVED_ON));
        },
    };
}
/** Acts on each, also after a failure, until too many in a row have failed. Throws the first error at the end. */
async function each(all, act) {
    const errors = [];
    let inRow = 0;
    for (const one of all) {
        if (inRow >= MOST_FAILURES)
            break;
        try {
            await act(one);
            inRow = 0;
        }
        catch (error) {
            errors.push(error);
            inRow += 1;
        }
    }
    if (errors.length > 0)
        throw errors[0];
}

// EXTERNAL MODULE: ./lib/github/conversation.js
var github_conversation = __webpack_require__(7692);
// EXTERNAL MODULE: ./lib/github/dispatch.js
var dispatch = __webpack_require__(2437);
;// CONCATENATED MODULE: ./lib/github/pull.js
// The one pull request of a feature: found by its branch, opened as a draft, made ready on completion.

/** The open pull request from this branch of this repository, or null. */
async function findPull(api, place, branch) {
    const { owner, repo } = place;
    const { data } = await api.rest.pulls.list({
        owner,
        repo,
        head: `${owner}:${branch}`,
        state: 'open',
        per_page: 10,
    });
    const found = data.find((pull) => pull.head.ref === branch && pull.head.repo?.full_name === `${owner}/${repo}`);
    return found === undefined
        ? null
        : { number: found.number, url: found.html_url, nodeId: found.node_id, draft: found.draft === true };
}
/** Opens the pull request. `refused` says why, where Actions may not (facts 3.3) or there is nothing to compare. */
async function openPull(api, place, wanted, isLast = false) {
    const { owner, repo } = place;
    const { branch: head, base, title, body } = wanted;
    try {
        const { data } = await api.rest.pulls.create({
            owner,
            repo,
            head,
            base,
            title,
            body,
            draft: wanted.draft,
            ...client/* ONCE */.ET,
        });
        return {
            kind: 'open',
            pull: { number: data.number, url: data.html_url, nodeId: data.node_id, draft: data.draft === true },
        };
    }
    catch (error) {
        // The answer may be lost although it was opened; and a repository may know no drafts.
        const there = await findPull(api, place, head);
        if (there !== null)
            return { kind: 'open', pull: there };
        if ((0,client/* statusOf */.c2)(error) === 422 && wanted.draft && /draft/i.test((0,client/* saidByGitHub */.C9)(error))) {
            return openPull(api, place, { ...wanted, draft: false }, isLast);
        }
        if ((0,client/* isUnknown */.t8)(error) && !isLast)
            return openPull(api, place, wanted, true);
        return { kind: 'refused', reason: (0,client/* saidByGitHub */.C9)(error), forbidden: (0,client/* isForbidden */.US)(error) };
    }
}
/** Takes the draft mark off. */
async function makeReady(api, pull) {
    const mutation = `mutation ($id: ID!) { markPullRequestReadyForReview(input: { pullRequestId: $id }) { pullRequest { isDraft } } }`;
    await api.graphql(mutation, { id: pull.nodeId });
}
async function updatePull(api, place, number, title, body) {
    await api.rest.pulls.update({ owner: place.owner, repo: place.repo, pull_number: number, title, body });
}

;// CONCATENATED MODULE: ./lib/report/pull-request.js





/** The first line of the pull request's text. */
function pullMarker(feature) {
    return `<!-- ralph:pull:${feature.replace(/[^\w.+-]/g, '-')} -->`;
}
const INTRODUCTION = 'Ralph builds this feature story by story, each by a fresh session of a coding agent, and commits a story only when its gates pass.';
/** `auth: Customers sign in to the shop`: the feature and the first sentence about it. It does not change with progress. A merge makes it a commit's. */
function pullRequestTitle(state) {
    const first = /^.*?(?=[.!?](?:\s|$)|\n|$)/su.exec(state.prd.description.trim())?.[0] ?? '';
    const about = (0,report_escape/* titleText */.Qw)(first, 120) || (0,words/* many */._d)(state.prd.userStories.length, 'user story', 'user stories');
    return (0,report_escape/* subjectText */.yq)(`${state.feature}: ${about}`, 200);
}
/** What the pull request is, its stories as a check list, how to steer, and what was verified. At most 65,000 characters. */
function pullRequestBody(state, facts) {
    return fitted((room) => stacked([
        `${pullMarker(state.feature)}\n${INTRODUCTION}`,
        (0,report_escape/* markdownText */.p7)(state.prd.description, 1500),
        `#### Stories\n\n${checkList(state.prd.userStories, Math.floor(room * 0.7))}`,
        `#### What was verified\n\n${verified(state, facts)}`,
        `#### How to steer\n\n${steering(state, facts)}`,
    ]), MOST_CHARACTERS, (text) => text.length);
}
function checkList(stories, room) {
    const lines = [];
    let used = 0;
    for (const story of stories) {
        const ticked = story.passes ? 'x' : ' ';
        const skipped = story.skipped && !story.passes ? ' (skipped by a person)' : '';
        const how = (0,words/* passedUnchanged */.IY)(story) ? ` (${words/* UNCHANGED */.ST})` : skipped;
        const line = `- [${ticked}] ${(0,report_escape/* bold */.Cr)((0,report_escape/* markdownText */.p7)(story.id, 64))} ${(0,report_escape/* markdownText */.p7)(story.title, 120)}${how}`;
        used += line.length + 1;
        if (used > room)
            break;
        lines.push(line);
    }
    const left = stories.slice(lines.length);
    if (left.length > 0) {
        const passed = left.filter((story) => story.passes).length;
        lines.push(`\n… and ${(0,words/* many */._d)(left.length, 'story', 'stories')} more, ${passed} of them passed`);
    }
    return lines.join('\n');
}
/** Said as it is: what exit codes proved, what a session judged, and what nobody looked at. */
function verified(state, facts) {
    const { userStories } = state.prd;
    const imported = userStories.filter((story) => story.passes && story.lastResult?.imported === true);
    const earned = (0,prd_select/* counts */.tQ)(state.prd).passed - imported.length;
    const sentences = [gatesSentence(state, earned), finalSentence(state, facts)];
    if (imported.length > 0) {
        sentences.push(`${(0,words/* many */._d)(imported.length, 'story', 'stories')} had passed before Ralph began; no gate of this run has seen ${imported.length === 1 ? 'it' : 'them'}.`);
    }
    const skipped = (0,prd_select/* counts */.tQ)(state.prd).skipped;
    if (skipped > 0)
        sentences.push(`${(0,words/* many */._d)(skipped, 'story was', 'stories were')} skipped by a person and not worked on.`);
    const unchanged = userStories.filter(words/* passedUnchanged */.IY);
    if (unchanged.length > 0) {
        sentences.push(`${someIds(unchanged)} passed without a change: a fresh session, which is a model too, judged that nothing had to be done.`);
    }
    const remarks = userStories.filter((story) => story.passes && (state.records[story.id]?.remarks.length ?? 0) > 0);
    if (remarks.length > 0) {
        sentences.push(`Look closer at ${someIds(remarks)}: the checks have remarks on how they passed.`);
    }
    sentences.push('The code was written by an agent and read by nobody yet: review it as you would any other.');
    return sentences.map((sentence) => `- ${sentence}`).join('\n');
}
function someIds(stories) {
    const ids = stories.slice(0, 10).map((story) => (0,report_escape/* markdownText */.p7)(story.id, 64));
    return `${ids.join(', ')}${stories.length > 10 ? ' and others' : ''}`;
}
function gatesSentence(state, earned) {
    if (earned === 0)
        return 'No story has passed in this run yet.';
    const names = new Set();
    for (const story of state.prd.userStories) {
        if (!story.passes)
            continue;
        for (const gate of state.records[story.id]?.gates ?? [])
            if (gate.ok && !gate.advisory)
                names.add(gate.name);
    }
    if (names.size === 0)
        return 'No gate is known to have run: a ticked story means no more than that the agent changed something.';
    const told = [...names].slice(0, 12).map((name) => (0,report_escape/* code */.aY)(name, 60));
    return `A story is ticked when these commands exited 0 on exactly the code that was committed for it: ${told.join(', ')}. The agent’s own word counts for nothing.`;
}
function finalSentence(state, facts) {
    if (state.verification.approved) {
        return 'The final verification agreed: all gates passed on the whole, and a fresh session, which is a model too, judged every criterion to be met.';
    }
    if (!facts.limits.finalVerification)
        return 'The final verification is switched off: nothing has judged the criteria themselves.';
    return (0,words/* outcomeNow */.jL)(state) === null || (0,prd_select/* counts */.tQ)(state.prd).open > 0
        ? 'The final verification, where a fresh session judges every criterion on the whole, has not been held yet.'
        : 'The final verification has not agreed to the code as it stands.';
}
function steering(state, facts) {
    const hint = (0,report_escape/* code */.aY)('/ralph retry US-001 -- use the existing mailer');
    const folder = parts_link((0,report_escape/* code */.aY)(state.folder, 200), treeLink(state, facts));
    return [
        `Comment with write access: ${(0,report_escape/* code */.aY)('/ralph pause')}, ${(0,report_escape/* code */.aY)('/ralph run')}, ${hint}, ${(0,report_escape/* code */.aY)('/ralph help')} for the rest.`,
        `Push to ${(0,report_escape/* code */.aY)(state.branch, 200)} as you like: Ralph takes your commits in. The stories are in ${folder}; edit them there.`,
        'How it stands now is in the comment below.',
    ].join('\n');
}
function treeLink(state, facts) {
    const path = (0,report_escape/* plainText */.wh)(`${state.branch}/${state.folder}`).split('/').map(encodeURIComponent).join('/');
    return `${facts.repositoryUrl}/tree/${path}`;
}

// EXTERNAL MODULE: ./lib/report/texts.js
var texts = __webpack_require__(4282);
// EXTERNAL MODULE: ./lib/github/place.js
var github_place = __webpack_require__(1904);
;// CONCATENATED MODULE: ./lib/github/reporter.js







/** More stories than this, and a batch re-posts only its own and the failed ones (design 4). */
const ALL_CHECKS = 20;
const MOST_CHECKS = 50;
function createReporter(options) {
    const { place, conversation, checks, warn } = options;
    const notes = [];
    let pull = null;
    let headSha = null;
    let compare = null;
    /** Redacted before it is rendered: escaping would split a secret, and hide it from the redaction behind. */
    const clean = (state) => (0,texts/* mapTexts */.z)(state, options.redact);
    const facts = () => ({
        repositoryUrl: (0,github_place/* repositoryUrl */.Ek)(place),
        runUrl: options.runUrl,
        limits: options.limits,
        now: Date.now(),
        compareUrl: compare,
        notes: notes.map(options.redact),
    });
    /** Whatever goes wrong in telling is told, and changes nothing else. */
    async function attempt(what, act) {
        try {
            await act();
        }
        catch (error) {
            warn(`${what}: ${(0,client/* saidByGitHub */.C9)(error)}`);
        }
    }
    async function stick(state) {
        let github = state.github;
        if (github.pull === null)
            return github;
        const number = github.pull;
        await attempt('the summary comment could not be written', async () => {
            const body = options.redact(stickyComment(clean(state), facts()));
            const comment = await conversation.stick(number, github.comment, stickyMarker(state.feature), body);
            github = { ...github, comment };
        });
        return github;
    }
    async function rollup(state, sha) {
        await attempt('the check could not be posted', () => checks.post(sha, [redacted(rollupCheck(clean(state), facts()))]));
    }
    function redacted(check) {
        const { redact } = options;
        return { ...check, title: redact(check.title), summary: redact(check.summary), text: redact(check.text) };
    }
    async function ensurePull(state) {
        if (options.pullRequest === 'none')
            return state.github;
        pull = await findPull(options.api, place, state.branch);
        if (pull === null && state.github.pull !== null) {
            notes.push(`The pull request #${state.github.pull} is not open any more; Ralph opens no second one.`);
            return state.github;
        }
        if (pull === null) {
            const title = options.redact(pullRequestTitle(clean(state)));
            const body = options.redact(pullRequestBody(clean(state), facts()));
            const draft = options.pullRequest === 'draft';
            const opened = await openPull(options.publishApi, place, {
                branch: state.branch,
                base: state.base.branch,
                title,
                body,
                draft,
            });
            if (opened.kind === 'refused') {
                compare = (0,github_place/* compareUrl */.XH)(place, state.base.branch, state.branch);
                notes.push(`The pull request could not be opened (${opened.reason}). Open it here: ${compare}`);
                const mend = !opened.forbidden
                    ? ''
                    : /not permitted/i.test(opened.reason)
                        ? '; let Actions create pull requests in Settings, Actions, General'
                        : '; the job needs permissions: pull-requests: write';
                warn(`the pull request could not be opened: ${opened.reason}${mend}. Open it here: ${compare}`);
                return state.github;
            }
            pull = opened.pull;
        }
        return { ...state.github, pull: pull.number, pullUrl: pull.url };
    }
    async function complete(state) {
        const open = pull ?? (await findPull(options.api, place, state.branch).catch(() => null));
        if (open === null)
            return;
        await attempt('the pull request could not be updated', () => updatePull(options.publishApi, place, open.number, options.redact(pullRequestTitle(clean(state))), options.redact(pullRequestBody(clean(state), facts()))));
        if (open.draft && options.pullRequest === 'draft') {
            await attempt('the pull request could not be made ready for review', () => makeReady(options.publishApi, open));
        }
    }
    return {
        facts,
        warn,
        async step() { },
        async event(event, state) {
            // One look an iteration: when a story is taken up. Its result is told with the next one, or at the end.
            if (event.kind !== 'reserved' || headSha === null)
                return;
            await rollup(state, headSha);
            await stick(state);
        },
        async opened(state) {
            let github = state.github;
            headSha = state.published;
            await attempt('the pull request could not be opened', async () => {
                github = await ensurePull(state);
            });
            const told = { ...state, github };
            if (headSha !== null)
                await rollup(told, headSha);
            return stick(told);
        },
        async merged(state) {
            const { pull: number } = state.github;
            if (number === null)
                return false;
            const { owner, repo } = place;
            const found = await options.api.rest.pulls
                .get({ owner, repo, pull_number: number })
                .catch((error) => warn(`the pull request could not be looked up: ${(0,client/* saidByGitHub */.C9)(error)}`));
            return found?.data.merged === true;
        },
        async beforePublish(state, head) {
            // A job that ends before it opens anything still has the check of the job before to close.
            const old = headSha ?? state.github.head ?? state.published;
            if (old === null || old === head)
                return;
            await attempt('the old checks could not be closed', () => checks.closeAll(old, 'The branch has moved on'));
            headSha = null;
        },
        async finished(state, conclusion) {
            let told = state;
            if (state.published !== null && state.github.pull === null) {
                await attempt('the pull request could not be opened', async () => {
                    told = { ...state, github: await ensurePull(state) };
                });
            }
            const sha = state.published;
            if (sha !== null) {
                headSha = sha;
                const shown = clean(told);
                // A story's check belongs on a commit that holds its code.
                const stories = state.green === sha ? toPost(state, conclusion.outcome === 'continued') : [];
                await attempt('the checks could not be posted', () => checks.post(sha, [rollupCheck(shown, facts()), ...stories.map((id) => storyCheck(shown, id, facts()))].map(redacted)));
            }
            if (conclusion.outcome === 'complete')
                await complete(told);
            return stick(told);
        },
    };
}
/** The stories whose checks are posted on a head: all that were worked on, or the batch's and the failed ones. */
function toPost(state, goesOn) {
    const touched = state.prd.userStories.filter((story) => (state.records[story.id]?.attempts ?? 0) > 0 || story.skipped);
    if (!goesOn)
        return touched.slice(-MOST_CHECKS).map((story) => story.id);
    if (touched.length <= ALL_CHECKS)
        return touched.map((story) => story.id);
    const { jobs } = state.prd.run;
    const batch = new Set(state.timeline.filter((entry) => entry.job === jobs).map((entry) => entry.storyId));
    return touched.filter((story) => batch.has(story.id) || story.blocked).map((story) => story.id);
}

// EXTERNAL MODULE: ./lib/loop/lease.js
var loop_lease = __webpack_require__(612);
// EXTERNAL MODULE: ./lib/loop/loop.js + 1 modules
var loop = __webpack_require__(9958);
// EXTERNAL MODULE: ./lib/report/outputs.js
var outputs = __webpack_require__(8568);
// EXTERNAL MODULE: ./lib/settings.js + 8 modules
var lib_settings = __webpack_require__(7038);
// EXTERNAL MODULE: ./lib/system/errors.js
var errors = __webpack_require__(94);
// EXTERNAL MODULE: ./lib/system/files.js
var files = __webpack_require__(1870);
// EXTERNAL MODULE: ./lib/wire.js + 48 modules
var wire = __webpack_require__(8538);
// EXTERNAL MODULE: ./lib/action/aside.js + 1 modules
var aside = __webpack_require__(3157);
// EXTERNAL MODULE: ./lib/action/context.js + 1 modules
var action_context = __webpack_require__(6354);
// EXTERNAL MODULE: ./lib/action/open.js
var action_open = __webpack_require__(7696);
// EXTERNAL MODULE: ./lib/action/runner.js
var runner = __webpack_require__(4918);
// EXTERNAL MODULE: ./lib/action/separate.js + 3 modules
var separate = __webpack_require__(3698);
;// CONCATENATED MODULE: ./lib/action/work.js
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
// One job of a chain: claims the feature, works its batch, publishes, dispatches the next job, reports.


























/** Settings that a person may choose at kick-off by an input of the workflow; the trust boundary is not among them. */
const CHOICES = [
    'max-iterations',
    'iterations-per-job',
    'max-attempts',
    'max-cost-usd',
    'max-tokens',
    'max-agent-time',
    'model',
    'instructions',
];
async function work(context, log, signal, part = 'whole') {
    const { event } = context;
    if (event.kind !== 'dispatch')
        throw new Error('only workflow_dispatch works');
    const token = (0,action_context/* tokenOf */.B9)(context);
    refuseFeatureRef(context, context.inputs['branch-prefix']?.trim() || 'ralph/');
    // Whatever stops this job from here on: its post step releases the lease of the claim job.
    if (part === 'land') {
        const { folder, nonce } = (0,separate/* claimOf */._B)(context);
        (0,runner/* remember */.kY)({ folder, nonce });
    }
    return (0,aside/* withCredentialsAside */.h)(context, (secrets) => prepareAndWork(context, token, secrets, log, signal, part));
}
async function prepareAndWork(context, token, secrets, log, signal, part) {
    const env_1 = { stack: [], error: void 0, hasError: false };
    try {
        const { place, event } = context;
        if (event.kind !== 'dispatch')
            throw new Error('only workflow_dispatch works');
        const warn = (message) => core/* warning */.$e(message);
        const at = part === 'land' ? (0,separate/* claimOf */._B)(context).base : null;
        const { settings, base, notes } = await (0,action_open/* trusted */.IZ)(context, token, at);
        refuseFeatureRef(context, settings.branchPrefix);
        (0,separate/* refuseWrongPart */.ny)(settings, part !== 'whole');
        for (const note of [...notes, ...(0,wire/* unsupported */.qO)(settings)])
            core/* notice */.lm(note);
        log.group('Settings', (0,lib_settings/* describeSettings */.TR)(settings).split('\n'));
        const workshop = __addDisposableResource(env_1, await (0,action_open/* openFor */.qw)(context, settings, token, secrets), false);
        await (0,filters/* refuseFiltered */.k)(workshop.git, workshop.objects);
        // What a person chose is read before it is kept.
        await (0,action_context/* actionSettings */.Sh)(context, (path) => workshop.repository.read(base.sha, path), (0,action_open/* pick */.Up)(event.inputs, CHOICES));
        const api = (0,client/* createClient */.UU)({ token, url: place.api, warn });
        const publishApi = settings.publishToken === null
            ? api
            : (0,client/* createClient */.UU)({ token: settings.publishToken, url: place.api, warn });
        const as = await (0,wire/* openIsolation */.zS)({ settings, env: context.env, clone: workshop.clone, say: core/* notice */.lm });
        if (as !== null)
            (0,runner/* remember */.kY)({ otherUser: as.before });
        try {
            const parts = { context, workshop, settings, api, publishApi, log, signal, as };
            return part === 'land' ? await landAndGoOn(parts, base) : await claimAndWork(parts, base, part);
        }
        finally {
            await as?.close();
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
async function claimAndWork(parts, base, part) {
    const { context, workshop, settings, api } = parts;
    const { place, event } = context;
    if (event.kind !== 'dispatch')
        throw new Error('only workflow_dispatch works');
    const warn = (message) => core/* warning */.$e(message);
    const now = Date.now();
    let claimed;
    try {
        claimed = await (0,claim/* claim */.B7)(workshop.git, workshop.objects, workshop.store, workshop.repository, {
            feature: settings.feature ?? event.feature,
            branchPrefix: settings.branchPrefix,
            base,
            workTree: null,
            generation: event.generation,
            lease: await (0,wire/* leaseFor */.UX)(settings, now, context.run),
            alive: async (lease) => !(0,loop_lease/* expired */._7)(lease, Date.now()) && (await runLives(api, context, lease)),
            job: (0,claim/* newJob */.iO)(now, now + settings.jobDeadlineMs),
            chosen: (0,action_open/* pick */.Up)(event.inputs, CHOICES),
            // Its machine is gone, or its post step has done it.
            bury: async () => { },
            settle: async (state) => {
                await workshop.repository.checkOut(state.green, null);
                await workshop.repository.rememberIgnored();
                return state;
            },
            today: new Date(now).toISOString().slice(0, 10),
            firstComment: async (branch) => {
                const pull = await findPull(api, place, branch);
                return pull === null ? 0 : (0,github_conversation/* createConversation */.c)(api, place, warn).newestComment(pull.number);
            },
        });
    }
    catch (error) {
        if (error instanceof claim/* Held */._b || error instanceof claim/* Superseded */.bb)
            return { neutral: error.message };
        throw error;
    }
    for (const note of claimed.notes)
        core/* notice */.lm(note);
    // What is uploaded after this job is this job's: a runner of one's own keeps the folder.
    for (const name of ['transcripts', 'logs'])
        await (0,promises_.rm)((0,external_node_path_.join)(workshop.clone.gitDir, 'ralph', name), { recursive: true, force: true });
    const { folder } = claimed.state;
    (0,runner/* remember */.kY)({ folder, namespace: settings.stateNamespace });
    return await workOn(claimed.state, { ...parts, base }, part === 'claim' ? separate/* CLAIM */.tx : separate/* WHOLE */.Ef);
}
/** Brings in what the work and the gate job handed over, and ends the iteration that the claim job began. */
async function landAndGoOn(parts, base) {
    const { context, workshop, settings } = parts;
    const taken = await (0,separate/* takeHandover */.VI)(context, workshop, settings);
    if ('neutral' in taken)
        return taken;
    const { folder } = taken.state;
    (0,runner/* remember */.kY)({ folder, namespace: settings.stateNamespace });
    return await workOn(taken.state, { ...parts, base }, taken.how);
}
async function workOn(start, parts, how) {
    const { context, workshop, settings, api, publishApi, log, signal, as } = parts;
    const { place } = context;
    const warn = (message) => core/* warning */.$e(workshop.redactor.redact(message));
    const chosen = await (0,action_context/* actionSettings */.Sh)(context, (path) => workshop.repository.read(start.base.sha, path), start.control.chosen);
    const limits = (0,wire/* limitsOf */.Af)({ ...settings, ...(0,action_open/* pickLimits */.Oq)(chosen.settings) });
    const conversation = (0,github_conversation/* createConversation */.c)(api, place, warn);
    const reporter = createReporter({
        api,
        publishApi,
        place,
        conversation,
        checks: createChecks(api, place, settings.reportAs, start.feature, warn),
        pullRequest: settings.pullRequest,
        limits,
        runUrl: context.run.url,
        redact: workshop.redactor.redact,
        warn,
    });
    const mark = start.lease?.mark ?? '';
    (0,runner/* remember */.kY)({ mark });
    const live = (0,cli_live/* createLive */.h)(log.screen, { limits, agent: settings.agent, voice: 'comment' }, true);
    const ports = await (0,wire/* createPorts */.RV)({
        settings: { ...settings, model: chosen.settings.model, instructions: chosen.settings.instructions },
        env: context.env,
        workshop,
        reporter: both((0,separate/* heardOf */._D)(live, how.done), reporter),
        queue: conversation,
        dispatch: (0,dispatch/* createDispatch */.D)(api, place, context.workflow),
        signal,
        as,
        mark,
        onAgent: live.agent,
        onGateStart: () => { },
        onGateEnd: live.gate,
        ...how.ports,
    });
    const ended = await (0,loop/* loop */.H)(start, limits, ports, how.ours).finally(() => (0,action_open/* settleFiles */.Zg)(workshop));
    if ('step' in ended)
        return (0,separate/* handOver */.Cl)(ended, ports, settings, parts.base.sha);
    const { state, conclusion } = ended;
    const { redact } = workshop.redactor;
    const summary = redact(jobSummary((0,texts/* mapTexts */.z)(state, redact), reporter.facts()));
    const reportPath = (0,external_node_path_.join)(context.env.RUNNER_TEMP ?? workshop.clone.gitDir, `ralph-${state.feature}.md`);
    await (0,files/* replaceFile */.fR)(reportPath, summary);
    await core/* summary */.z.addRaw(summary, true).write();
    (0,runner/* giveOutputs */.wY)((0,outputs/* outputsOf */.Y)(state, conclusion.outcome, reportPath));
    return { state, conclusion };
}
/** The log hears everything; GitHub hears it too. What GitHub learns (ids) is what counts. */
function both(log, github) {
    return {
        warn: github.warn,
        async step(step, state) {
            await log.step(step, state);
            await github.step(step, state);
        },
        async event(event, state) {
            await log.event(event, state);
            await github.event(event, state);
        },
        beforePublish: github.beforePublish,
        merged: github.merged,
        opened: github.opened,
        finished: github.finished,
    };
}
/** On a `ralph/*` ref the workflow file would be the agent's copy, with the secrets of the real one. */
function refuseFeatureRef(context, prefix) {
    if (!context.ref.startsWith(`refs/heads/${prefix}`))
        return;
    throw new errors/* UserError */.yo([
        {
            path: 'ref',
            found: context.ref,
            expected: 'the default branch',
            fix: `run the workflow on ${context.place.defaultBranch}: on ${prefix}* the workflow file may be the agent's`,
        },
    ]);
}
/** A holder lives while its run has not completed; when GitHub does not say, the lease's own time counts. */
async function runLives(api, context, lease) {
    if (lease.runId === null)
        return true;
    // A re-run from the UI has the same run id: an earlier attempt of our own run is over.
    if (lease.runId === context.run.id && lease.runAttempt !== context.run.attempt)
        return false;
    const { owner, repo } = context.place;
    try {
        const { data } = await api.rest.actions.getWorkflowRun({ owner, repo, run_id: lease.runId });
        return data.status !== 'completed';
    }
    catch {
        return true;
    }
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
