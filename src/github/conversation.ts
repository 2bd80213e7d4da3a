// The conversation on the pull request: the sticky comment, the queue of commands, replies. Comments of others may be hostile.

import { parseSlash } from '../engine/commands/command-table.ts'
import type { Command } from '../engine/model/event.ts'
import type { QueuePort } from '../engine/model/ports.ts'
import type { State } from '../engine/model/state.ts'
import { ineffectiveReason } from '../engine/planning/plan-events.ts'
import { unchangedReply } from '../report/replies.ts'
import {
  createOnce,
  type GitHub,
  githubMessage,
  httpStatusOf,
  isForbidden,
  NO_RETRIES,
  pagesOf,
} from './client.ts'
import { accountType } from './forges/account-type.ts'
import { forgeOf, JOB_LOGINS } from './forges/forge.ts'

/** The fields of a comment that are used. */
export type Comment = {
  id: number
  body: string
  login: string
  type: string
  edited: boolean
  /** When it was written, epoch milliseconds. */
  at: number
}

/** The author of comments that are written with the job's token, if GitHub does not say. */
const JOB_LOGIN = 'github-actions[bot]'

export class Conversation implements QueuePort {
  readonly #github: GitHub
  /** Permissions by login, for one reading of the comments only: a permission may be taken away during a long job. */
  readonly #permissions = new Map<string, boolean>()
  /** The etag of the last reading of comments; null if some of them are not handled yet. */
  #etag: string | null = null
  #self: string | null = null
  #hasWarned = false

  constructor(github: GitHub) {
    this.#github = github
  }

  async read(state: State): Promise<Command[]> {
    const commands: Command[] = []
    await this.#visitNew(state, async (comment, pull) => {
      const command = await this.#parseCommand(comment, state, pull)
      if (command !== null) commands.push(command)
      return false
    })
    return commands
  }

  async waiting(state: State): Promise<boolean> {
    const ids = state.prd.userStories.map((story) => story.id)
    const found = await this.#visitNew(state, async (comment) => {
      const parsed = parseSlash(comment.body, ids)
      const wantsWork = parsed.kind === 'command' && parsed.command.kind !== 'stop'
      return wantsWork && isPerson(comment) && !comment.edited && (await this.mayWrite(comment.login))
    })
    // These comments are not handled yet, so they must be read again.
    this.#etag = null
    return found
  }

  /** Always false: on GitHub a job waits for minutes at most, and reads commands after that. */
  async arrived(): Promise<boolean> {
    return false
  }

  /** Writes the sticky comment; gives its id. */
  async writeSticky(pull: number, known: number | null, marker: string, body: string): Promise<number> {
    try {
      if (known !== null) return await this.#update(known, body)
    } catch (error) {
      if (httpStatusOf(error) !== 404) throw error
    }
    const existing = await this.#findOwnComment(pull, marker)
    return existing === null ? this.#post(pull, marker, body) : this.#update(existing, body)
  }

  /** `writeSticky` for a comment that several runs may write at once: if there are two, the older one is kept. */
  async writeUniqueSticky(pull: number, marker: string, body: string): Promise<void> {
    const written = await this.writeSticky(pull, null, marker, body)
    const oldest = await this.#findOwnComment(pull, marker)
    if (oldest === null || oldest === written) return
    await this.#github.api.rest.issues.deleteComment({ ...this.#github.repo, comment_id: written })
    await this.#update(oldest, body)
  }

  /** Whether a comment of Ralph begins with `start`. */
  async hasOwnComment(pull: number, start: string): Promise<boolean> {
    return (await this.#findOwnComment(pull, start)) !== null
  }

  async react(comment: number, content: 'eyes' | 'rocket' | 'confused'): Promise<void> {
    await this.#github.api.rest.reactions
      .createForIssueComment({ ...this.#github.repo, comment_id: comment, content })
      .catch((error: unknown) => this.#github.warn(`Ralph could not set a reaction: ${githubMessage(error)}`))
  }

  /** Answers a comment once, although both the run that it started and the next job may read it. */
  async reply(pull: number, comment: number, body: string): Promise<void> {
    const marker = `<!-- ralph:reply:${comment} -->`
    if ((await this.#findOwnComment(pull, marker)) === null)
      await this.#post(pull, marker, `${marker}\n${body}`)
  }

  /** Posts a new comment. */
  async postComment(pull: number, body: string): Promise<void> {
    const { api, repo } = this.#github
    await api.rest.issues.createComment({ ...repo, issue_number: pull, body, ...NO_RETRIES })
  }

  /** Looks up whether a person has write permission; anything but a clear yes is a no. Throws if GitHub does not answer. */
  async mayWrite(login: string): Promise<boolean> {
    const cached = this.#permissions.get(login)
    if (cached !== undefined) return cached
    const isAllowed = await this.#github.api.rest.repos
      .getCollaboratorPermissionLevel({ ...this.#github.repo, username: login })
      .then(({ data }) => data.permission === 'admin' || data.permission === 'write')
      .catch((error: unknown) => {
        // 404: not a collaborator. Any other error is thrown, because a command must not be lost while GitHub is unavailable.
        if (httpStatusOf(error) === 404) return false
        if (forgeOf(this.#github.place.api).permissionsFor === 'admins' && isForbidden(error))
          return this.#isNamed(login)
        throw error
      })
    this.#permissions.set(login, isAllowed)
    return isAllowed
  }

  /** For a server that tells permissions to administrators only: whether the owner of the repository or the settings name a person. */
  async #isNamed(login: string): Promise<boolean> {
    const { place, warn, commanders } = this.#github
    const name = login.toLowerCase()
    if (name === place.owner.toLowerCase()) return true
    const named = await commanders()
    if (named.some((one) => one.toLowerCase() === name)) return true
    if (!this.#hasWarned)
      warn(
        `on this server, only administrators can see who has write permission, so Ralph takes commands only from ${[place.owner, ...named].join(', ')}. To allow other people, add them to commands-from`,
      )
    this.#hasWarned = true
    return false
  }

  async newestComment(pull: number): Promise<number> {
    const comments = await this.#listNew(pull, 0)
    this.#etag = null
    return comments.at(-1)?.id ?? 0
  }

  /** Calls `look` with each comment that was not handled yet; true as soon as it returns true. */
  async #visitNew(
    { github: { pull }, control }: State,
    look: (comment: Comment, pull: number) => Promise<boolean>,
  ): Promise<boolean> {
    if (pull === null) return false
    this.#permissions.clear()
    try {
      for (const comment of await this.#listNew(pull, control.lastComment))
        if (await look(await this.#resolveButton(comment), pull)) return true
    } catch (error) {
      // After an error, the comments are read again even if nothing has changed.
      this.#etag = null
      this.#github.warn(`Ralph could not read comments: ${githubMessage(error)}`)
    }
    return false
  }

  /**
   * The comment of a button, as a command of the person who pressed it. Only if it is from an App's token that Ralph uses: any workflow
   * can comment with a job's own token.
   */
  async #resolveButton(comment: Comment): Promise<Comment> {
    const [, login = '', body = ''] = PRESSED.exec(comment.body) ?? []
    const isApp = comment.type === 'Bot' && !JOB_LOGINS.has(comment.login)
    if (body === '' || !isApp || comment.edited || comment.login !== (await this.#login())) return comment
    return { ...comment, login, body, type: 'User' }
  }

  /** Comments after the last one that was handled; none if nothing has changed since. */
  async #listNew(pull: number, after: number): Promise<Comment[]> {
    const comments: Comment[] = []
    for (let page = 1; ; page++) {
      const answer = await this.#fetchPage(pull, page)
      if (answer === null) return []
      for (const { id, body, user, created_at, updated_at } of answer)
        comments.push({
          id: Number(id),
          body: body ?? '',
          login: user?.login ?? 'ghost',
          type: user === null ? '' : accountType(user),
          edited: updated_at !== created_at,
          // GitHub gives whole seconds: a comment counts as written at the end of its second.
          at: Date.parse(created_at) + 999,
        })
      if (answer.length < 100) break
    }
    return comments.filter((comment) => comment.id > after).sort((one, other) => one.id - other.id)
  }

  /** Null if nothing changed since the last reading. */
  async #fetchPage(pull: number, page: number) {
    try {
      const { data, headers } = await this.#github.api.rest.issues.listComments({
        ...this.#github.repo,
        issue_number: pull,
        per_page: 100,
        page,
        headers: this.#etag === null || page > 1 ? {} : { 'if-none-match': this.#etag },
      })
      // With more than one page, the first one does not change when a comment is added at the end, so its etag means nothing.
      this.#etag = page === 1 && data.length < 100 ? (headers.etag ?? null) : null
      return data
    } catch (error) {
      if (httpStatusOf(error) === 304) return null
      throw error
    }
  }

  async #parseCommand(comment: Comment, state: State, pull: number): Promise<Command | null> {
    const ids = state.prd.userStories.map((story) => story.id)
    const parsed = parseSlash(comment.body, ids)
    if (parsed.kind === 'none' || !isPerson(comment)) return null
    const refused: Command = { kind: 'refused', id: comment.id, by: comment.login }
    if (!(await this.mayWrite(comment.login))) {
      await this.react(comment.id, 'confused')
      return refused
    }
    if (comment.edited) {
      await this.react(comment.id, 'confused')
      await this.#answer(pull, comment.id, unchangedReply(EDITED))
      return refused
    }
    switch (parsed.kind) {
      case 'help':
      case 'status':
      case 'why':
      case 'diff':
        return refused // answered by the run that the comment itself started
      case 'mistake':
        await this.react(comment.id, 'confused')
        await this.#answer(pull, comment.id, unchangedReply(parsed.problem, parsed.fix))
        return refused
      case 'command': {
        const command = { ...parsed.command, id: comment.id, by: comment.login, at: comment.at }
        const reason = ineffectiveReason(state, command)
        await this.react(comment.id, reason === null ? 'rocket' : 'confused')
        if (reason !== null) await this.#answer(pull, comment.id, unchangedReply(reason))
        return command
      }
    }
  }

  /** A failed answer is a warning only: it must not hold up later comments. */
  async #answer(pull: number, comment: number, body: string): Promise<void> {
    await this.reply(pull, comment, body).catch((error: unknown) =>
      this.#github.warn(`Ralph could not reply to a comment: ${githubMessage(error)}`),
    )
  }

  /** The id of Ralph's own comment that begins with a marker. In a comment of another author a marker means nothing. */
  async #findOwnComment(pull: number, marker: string): Promise<number | null> {
    const { api, repo } = this.#github
    const params = { ...repo, issue_number: pull, per_page: 100 }
    const ask = (page: number) => api.rest.issues.listComments({ ...params, page })
    for await (const comments of pagesOf(ask)) {
      const marked = comments.filter(({ body }) => (body ?? '').startsWith(marker))
      const login = marked.length === 0 ? null : await this.#login()
      const own = marked.find(({ user }) => user?.login === login)
      if (own !== undefined) return Number(own.id)
    }
    return null
  }

  /** The login that the token writes as: the job's own, an App's or a person's. */
  async #login(): Promise<string> {
    const { api } = this.#github
    this.#self ??= await api.graphql<{ viewer: { login: string } }>('{ viewer { login } }').then(
      ({ viewer }) => viewer.login,
      (error: unknown) =>
        // A server without GraphQL.
        httpStatusOf(error) !== 404
          ? JOB_LOGIN
          : api.rest.users.getAuthenticated().then(
              ({ data }) => data.login,
              () => JOB_LOGIN,
            ),
    )
    return this.#self
  }

  #post(pull: number, marker: string, body: string): Promise<number> {
    return createOnce(
      async () => {
        const comment = { ...this.#github.repo, issue_number: pull, body }
        const created = await this.#github.api.rest.issues.createComment({ ...comment, ...NO_RETRIES })
        return Number(created.data.id)
      },
      () => this.#findOwnComment(pull, marker),
    )
  }

  async #update(comment: number, body: string): Promise<number> {
    await this.#github.api.rest.issues.updateComment({ ...this.#github.repo, comment_id: comment, body })
    return comment
  }
}

/** The text of a button's comment: the command, and the login of the person who pressed the button. */
export function pressedComment(login: string, name: 'retry' | 'skip', storyId: string): string {
  return `<!-- ralph:button:${login} -->\n/ralph ${name} ${storyId}\n\n<sub>Someone pressed this button on the check of the story.</sub>\n`
}

const PRESSED = /^<!-- ralph:button:([A-Za-z\d-]{1,39}) -->\n(\/ralph (?:retry|skip) [^\s,]{1,64})\n\n<sub>/

/** Whether a human wrote the comment. */
export function isPerson(comment: Pick<Comment, 'type' | 'login'>): boolean {
  return comment.type === 'User' && comment.login !== 'ghost'
}

/** Why a command in an edited comment does not count: everyone with write permission can edit the comments of others. */
export const EDITED =
  'the comment was edited, and Ralph reads only unedited comments: write the command in a new comment'
