export const id = 123;
export const ids = [123];
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

/***/ 8123:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

__webpack_require__.r(__webpack_exports__);
/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   steer: () => (/* binding */ steer)
/* harmony export */ });
/* harmony import */ var _loop_commands_js__WEBPACK_IMPORTED_MODULE_7__ = __webpack_require__(4650);
/* harmony import */ var _loop_slash_commands_js__WEBPACK_IMPORTED_MODULE_6__ = __webpack_require__(8754);
/* harmony import */ var _report_outputs_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(8568);
/* harmony import */ var _system_errors_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(94);
/* harmony import */ var _system_survivors_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(3974);
/* harmony import */ var _context_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(4641);
/* harmony import */ var _inbox_js__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(9174);
/* harmony import */ var _local_js__WEBPACK_IMPORTED_MODULE_5__ = __webpack_require__(921);
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
// `ralph retry | redo | skip | note | pause`: as in comments. A run in work hears it before its next iteration.








/** Story ids and, behind `--`, a text. Gives 0 when it was taken. */
async function steer(context, name, args) {
    const env_1 = { stack: [], error: void 0, hasError: false };
    try {
        if (context.env[_system_survivors_js__WEBPACK_IMPORTED_MODULE_2__/* .MARK_NAME */ .Gx] !== undefined) {
            const found = 'a command typed by an agent or a gate';
            throw new _system_errors_js__WEBPACK_IMPORTED_MODULE_1__/* .UserError */ .yo([{ path: `ralph ${name}`, found, expected: 'a person', fix: 'leave it to people' }]);
        }
        const { settings } = await (0,_context_js__WEBPACK_IMPORTED_MODULE_3__/* .settingsOf */ .f5)(context);
        const local = __addDisposableResource(env_1, await (0,_local_js__WEBPACK_IMPORTED_MODULE_5__/* .openLocal */ .qE)(context, settings, {
            warn: (text) => (0,_context_js__WEBPACK_IMPORTED_MODULE_3__/* .tell */ .qz)(process.stderr, `warning: ${text}`),
        }), false);
        const state = await local.look();
        const ids = state.prd.userStories.map((story) => story.id);
        const parsed = (0,_loop_slash_commands_js__WEBPACK_IMPORTED_MODULE_6__/* .parseSlash */ .d)(`/ralph ${name} ${commandLine(args, ids)}`, ids);
        if (parsed.kind === 'mistake') {
            throw new _system_errors_js__WEBPACK_IMPORTED_MODULE_1__/* .UserError */ .yo([
                {
                    path: `ralph ${name}`,
                    found: parsed.problem,
                    expected: 'a command as in comments',
                    fix: parsed.fix.replace(/^\//, ''),
                },
            ]);
        }
        if (parsed.kind !== 'command')
            throw new Error(`${name} is no command`);
        const stream = context.json ? process.stderr : process.stdout;
        const { lease } = state;
        const working = lease !== null && (await local.alive(lease));
        if (working || state.nonce === '') {
            await (0,_inbox_js__WEBPACK_IMPORTED_MODULE_4__/* .post */ .b)(local.workshop.clone, state.feature, `/ralph ${name} ${commandLine(args, ids)}`);
            (0,_context_js__WEBPACK_IMPORTED_MODULE_3__/* .tell */ .qz)(stream, working ? 'noted: the run in work hears it before its next iteration' : 'noted: the first run hears it');
            return { code: 0, outputs: (0,_report_outputs_js__WEBPACK_IMPORTED_MODULE_0__.outputsOf)(state, state.prd.run.outcome, null) };
        }
        const folder = state.folder.replace(/^\.ralph\//, '');
        const loaded = await local.workshop.store.load(folder);
        if (loaded === null)
            throw new Error(`the state of ${state.feature} is gone`);
        const held = loaded.state.lease;
        if (held !== null && (await local.alive(held)))
            return steer(context, name, args); // a run has begun just now
        const steered = (0,_loop_commands_js__WEBPACK_IMPORTED_MODULE_7__/* .applyCommand */ .s)(loaded.state, { ...parsed.command, id: 0, by: 'you' });
        // Nobody has looked at the branch: the state alone moves, not the clone.
        await local.workshop.store.save({ ...steered, lease: null, job: { ...steered.job, opened: false } });
        (0,_context_js__WEBPACK_IMPORTED_MODULE_3__/* .tell */ .qz)(stream, `done: ${name}${args.length === 0 ? '' : ` ${args.join(' ')}`}. Go on with: ralph run ${state.feature}`);
        return { code: 0, outputs: (0,_report_outputs_js__WEBPACK_IMPORTED_MODULE_0__.outputsOf)(steered, steered.prd.run.outcome, null) };
    }
    catch (e_1) {
        env_1.error = e_1;
        env_1.hasError = true;
    }
    finally {
        __disposeResources(env_1);
    }
}
/** What stands behind `--` arrives as further arguments: the first that is no story begins the text. */
function commandLine(args, ids) {
    const at = args.findIndex((arg) => arg.toLowerCase() !== 'all' && !ids.some((id) => id.toLowerCase() === arg.toLowerCase()));
    const looksLikeId = at >= 0 && /^[A-Za-z]+-\d+$/.test(args[at] ?? '');
    if (at < 0 || looksLikeId)
        return args.join(' ');
    return `${args.slice(0, at).join(' ')} -- ${args.slice(at).join(' ')}`;
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
