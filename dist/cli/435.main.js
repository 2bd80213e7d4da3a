export const id = 435;
export const ids = [435];
export const modules = {

/***/ 435:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

__webpack_require__.r(__webpack_exports__);
/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   next: () => (/* binding */ next),
/* harmony export */   status: () => (/* binding */ status),
/* harmony export */   validate: () => (/* binding */ validate)
/* harmony export */ });
/* harmony import */ var _loop_next_step_js__WEBPACK_IMPORTED_MODULE_8__ = __webpack_require__(6868);
/* harmony import */ var _prd_select_js__WEBPACK_IMPORTED_MODULE_7__ = __webpack_require__(2856);
/* harmony import */ var _report_escape_js__WEBPACK_IMPORTED_MODULE_6__ = __webpack_require__(2527);
/* harmony import */ var _report_outputs_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(8568);
/* harmony import */ var _report_terminal_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(1992);
/* harmony import */ var _report_words_js__WEBPACK_IMPORTED_MODULE_5__ = __webpack_require__(8191);
/* harmony import */ var _wire_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(9618);
/* harmony import */ var _context_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(4641);
/* harmony import */ var _local_js__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(921);
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
// `ralph status`, `next` and `validate`: look, say, change nothing. Exit 0 when fine, 1 when not, 64 on bad input.









async function status(context) {
    const env_1 = { stack: [], error: void 0, hasError: false };
    try {
        const local = __addDisposableResource(env_1, await openQuiet(context), false);
        const state = await local.look();
        const { outcome } = state.prd.run;
        const say = speaker(context);
        say((0,_report_terminal_js__WEBPACK_IMPORTED_MODULE_1__/* .plainBanner */ .po)(state, (0,_wire_js__WEBPACK_IMPORTED_MODULE_2__/* .limitsOf */ .Af)(local.settings)));
        const standing = (0,_report_words_js__WEBPACK_IMPORTED_MODULE_5__/* .standings */ .ES)(state);
        for (const story of state.prd.userStories) {
            const notes = story.notes === '' ? '' : `  (${(0,_report_escape_js__WEBPACK_IMPORTED_MODULE_6__/* .terminalText */ .eR)(story.notes, 120)})`;
            say(`  ${SIGNS[standing.get(story.id) ?? 'open'] ?? ' '} ${story.id}  ${(0,_report_escape_js__WEBPACK_IMPORTED_MODULE_6__/* .terminalText */ .eR)(story.title)}${notes}`);
        }
        say(`${(0,_report_terminal_js__WEBPACK_IMPORTED_MODULE_1__/* .statusLine */ .Bs)(state, PLAIN)}\nNext: ${(0,_report_words_js__WEBPACK_IMPORTED_MODULE_5__/* .spoken */ .vg)((0,_report_words_js__WEBPACK_IMPORTED_MODULE_5__/* .nextMove */ .lE)(state, outcome, 'cli', (0,_wire_js__WEBPACK_IMPORTED_MODULE_2__/* .limitsOf */ .Af)(local.settings)))}`);
        const stories = state.prd.userStories.map(({ id, title, passes, blocked, skipped, retries, notes }) => ({
            id,
            title,
            passes,
            blocked,
            skipped,
            retries,
            notes,
        }));
        const fine = (0,_prd_select_js__WEBPACK_IMPORTED_MODULE_7__/* .counts */ .tQ)(state.prd).blocked === 0 && outcome !== 'stuck' && outcome !== 'error';
        return { code: fine ? 0 : 1, outputs: (0,_report_outputs_js__WEBPACK_IMPORTED_MODULE_0__.outputsOf)(state, outcome, null), more: { stories } };
    }
    catch (e_1) {
        env_1.error = e_1;
        env_1.hasError = true;
    }
    finally {
        __disposeResources(env_1);
    }
}
async function next(context) {
    const env_2 = { stack: [], error: void 0, hasError: false };
    try {
        const local = __addDisposableResource(env_2, await openQuiet(context), false);
        const state = await local.look();
        const story = (0,_prd_select_js__WEBPACK_IMPORTED_MODULE_7__/* .pickStory */ .lQ)(state.prd);
        const say = speaker(context);
        const open = (0,_prd_select_js__WEBPACK_IMPORTED_MODULE_7__/* .remaining */ .Tk)(state.prd).length;
        if (story !== null)
            say(`${story.id}  ${(0,_report_escape_js__WEBPACK_IMPORTED_MODULE_6__/* .terminalText */ .eR)(story.title)}`);
        else
            say(open === 0
                ? 'nothing: every story passed or was skipped'
                : `nothing: ${open} stories are left, and all are blocked or wait for blocked ones`);
        const over = (0,_loop_next_step_js__WEBPACK_IMPORTED_MODULE_8__/* .outcomeOf */ .$)({ ...state, job: { ...state.job, startedAt: 0 } }, (0,_wire_js__WEBPACK_IMPORTED_MODULE_2__/* .limitsOf */ .Af)(local.settings), Date.now());
        const more = {
            next: story === null ? null : { id: story.id, title: story.title, attempt: story.retries + 1 },
            reason: over?.reason ?? null,
        };
        return {
            code: story === null && open > 0 ? 1 : 0,
            outputs: (0,_report_outputs_js__WEBPACK_IMPORTED_MODULE_0__.outputsOf)(state, state.prd.run.outcome, null),
            more,
        };
    }
    catch (e_2) {
        env_2.error = e_2;
        env_2.hasError = true;
    }
    finally {
        __disposeResources(env_2);
    }
}
async function validate(context) {
    const env_3 = { stack: [], error: void 0, hasError: false };
    try {
        const { settings, notes } = await (0,_context_js__WEBPACK_IMPORTED_MODULE_3__/* .settingsOf */ .f5)(context);
        const local = __addDisposableResource(env_3, await (0,_local_js__WEBPACK_IMPORTED_MODULE_4__/* .openLocal */ .qE)(context, settings, {
            warn: (text) => (0,_context_js__WEBPACK_IMPORTED_MODULE_3__/* .tell */ .qz)(process.stderr, `warning: ${text}`),
        }), false);
        const state = await local.look();
        const say = speaker(context);
        const warnings = [...notes, ...warningsOf(state, local)];
        for (const text of warnings)
            say(`warning: ${text}`);
        say(`${state.folder}/prd.json: ${state.prd.userStories.length} stories, fine`);
        return { code: 0, outputs: (0,_report_outputs_js__WEBPACK_IMPORTED_MODULE_0__.outputsOf)(state, state.prd.run.outcome, null), more: { warnings } };
    }
    catch (e_3) {
        env_3.error = e_3;
        env_3.hasError = true;
    }
    finally {
        __disposeResources(env_3);
    }
}
/** Things that are allowed and seldom meant. */
function warningsOf(state, local) {
    const warnings = [];
    if (local.settings.gates.length === 0)
        warnings.push('no gate is configured: every change that an agent makes would pass');
    for (const story of state.prd.userStories) {
        if (story.acceptanceCriteria.length > 8)
            warnings.push(`${story.id} has ${story.acceptanceCriteria.length} criteria: a story should fit one session`);
    }
    return warnings;
}
async function openQuiet(context) {
    const { settings } = await (0,_context_js__WEBPACK_IMPORTED_MODULE_3__/* .settingsOf */ .f5)(context);
    return (0,_local_js__WEBPACK_IMPORTED_MODULE_4__/* .openLocal */ .qE)(context, settings, { warn: (text) => (0,_context_js__WEBPACK_IMPORTED_MODULE_3__/* .tell */ .qz)(process.stderr, `warning: ${text}`) });
}
function speaker(context) {
    const stream = context.json ? process.stderr : process.stdout;
    return (text) => (0,_context_js__WEBPACK_IMPORTED_MODULE_3__/* .tell */ .qz)(stream, text);
}
const PLAIN = { width: 100, colour: false, plain: true };
const SIGNS = {
    passed: '[x]',
    skipped: '[-]',
    blocked: '[!]',
    working: '[>]',
    rejected: '[~]',
    waiting: '[.]',
    open: '[ ]',
};


/***/ })

};
