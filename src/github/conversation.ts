// The pull request's conversation: one sticky comment, commands as a queue, acknowledgements. Text of others is hostile.

import { parseSlash } from '../loop/slash-commands.ts'
import type { Command } from '../model/event.ts'
import type { QueuePort } from '../model/ports.ts'
import type { State } from '../model/state.ts'
import { mistakeReply } from '../report/replies.ts'
import { type Api, isUnknown, ONCE, saidByGitHub, statusOf } from './client.ts'
import type { Place } from './place.ts'

/** A comment as we need it. */
export type Comment = { id: number; body: string; login: string; type: string; edited: boolean }

export type Conversation = QueuePort & {
  /** Writes the sticky comment; gives its id. */
  stick(pull: number, known: number | null, marker: string, body: string): Promise<number>
  /** The same for a comment that several runs may write at once: of two the older one stays. */
  stickAlone(pull: number, marker: string, body: string): Promise<void>
  react(comment: number, content: 'eyes' | 'rocket' | 'confused'): Promise<void>
  /** Answers a comment, once: where an answer of ours stands already, nothing is said. */
  reply(pull: number, comment: number, body: string): Promise<void>
  /** Write permission, looked up; anything but a clear yes is a no (facts 5.2). Throws where GitHub gives no answer. */
  mayWrite(login: string): Promise<boolean>
  newestComment(pull: number): Promise<number>
}

export function createConversation(api: Api, place: Place, warn: (message: string) => void): Conversation {
  const { owner, repo } = place
  /** For one reading of the comments: a permission may be taken away while a job works for hours. */
  const permissions = new Map<string, boolean>()
  let etag: string | null = null
  let self: string | null = null

  /** Whose token this is: an App's or a person's may speak in the place of the job's own. */
  async function login(): Promise<string> {
    self ??= await api.graphql<{ viewer: { login: string } }>('{ viewer { login } }').then(
      ({ viewer }) => viewer.login,
      () => 'github-actions[bot]', // the job's own token
    )
    return self
  }

  /** Our own comment that begins with a marker; in anybody else's a marker means nothing. */
  async function own(pull: number, marker: string): Promise<number | null> {
    const listing = api.paginate.iterator(api.rest.issues.listComments, {
      owner,
      repo,
      issue_number: pull,
      per_page: 100,
    })
    for await (const { data } of listing) {
      const marked = data.filter((one) => (one.body ?? '').startsWith(marker))
      const me = marked.length === 0 ? null : await login()
      const mine = marked.find((one) => one.user?.login === me)
      if (mine !== undefined) return Number(mine.id)
    }
    return null
  }

  /** Posts a comment; after an unknown answer it is looked up by its marker before it is posted once more. */
  async function say(pull: number, marker: string, body: string): Promise<number> {
    for (let isLast = false; ; isLast = true) {
      try {
        const made = await api.rest.issues.createComment({ owner, repo, issue_number: pull, body, ...ONCE })
        return Number(made.data.id)
      } catch (error) {
        if (!isUnknown(error)) throw error
        const there = await own(pull, marker)
        if (there !== null) return there
        if (isLast) throw error
      }
    }
  }

  /** Comments after the last one handled, or none when GitHub says that nothing changed. */
  async function fresh(pull: number, after: number): Promise<Comment[]> {
    const route = 'GET /repos/{owner}/{repo}/issues/{issue_number}/comments'
    const comments: Comment[] = []
    for (let page = 1; ; page++) {
      try {
        const answer = await api.request(route, {
          owner,
          repo,
          issue_number: pull,
          per_page: 100,
          page,
          headers: etag === null || page > 1 ? {} : { 'if-none-match': etag },
        })
        // With more than a page, the first one stays as it is when a comment is added behind it.
        const isWhole = page === 1 && answer.data.length < 100
        etag = isWhole ? (answer.headers.etag ?? null) : null
        for (const one of answer.data) {
          comments.push({
            id: Number(one.id),
            body: one.body ?? '',
            login: one.user?.login ?? 'ghost',
            type: one.user?.type ?? '',
            edited: one.updated_at !== one.created_at,
          })
        }
        if (answer.data.length < 100) break
      } catch (error) {
        if (statusOf(error) === 304) return []
        throw error
      }
    }
    return comments.filter((comment) => comment.id > after).sort((one, other) => one.id - other.id)
  }

  async function understand(comment: Comment, state: State, pull: number): Promise<Command | null> {
    const ids = state.prd.userStories.map((story) => story.id)
    const parsed = parseSlash(comment.body, ids)
    if (parsed.kind === 'none' || !isPerson(comment)) return null
    const refused: Command = { kind: 'refused', id: comment.id, by: comment.login }
    if (!(await conversation.mayWrite(comment.login))) {
      await conversation.react(comment.id, 'confused')
      return refused
    }
    switch (parsed.kind) {
      case 'help':
      case 'status':
        return refused // answered by the run that the comment itself started
      case 'mistake':
        await conversation.react(comment.id, 'confused')
        // An answer that GitHub does not take must not hold up the comments behind.
        await conversation
          .reply(pull, comment.id, mistakeReply(parsed.problem, parsed.fix))
          .catch((error: unknown) => warn(`a comment could not be answered: ${saidByGitHub(error)}`))
        return refused
      case 'command':
        await conversation.react(comment.id, 'rocket')
        return { ...parsed.command, id: comment.id, by: comment.login }
    }
  }

  const conversation: Conversation = {
    async read(state) {
      const { pull } = state.github
      if (pull === null) return []
      const commands: Command[] = []
      permissions.clear()
      try {
        for (const comment of await fresh(pull, state.control.lastComment)) {
          const command = await understand(comment, state, pull)
          if (command !== null) commands.push(command)
        }
      } catch (error) {
        etag = null // what was not understood is asked for again
        warn(`comments could not be read: ${error instanceof Error ? error.message : String(error)}`)
      }
      return commands
    },

    async waiting(state) {
      const { pull } = state.github
      if (pull === null) return false
      const ids = state.prd.userStories.map((story) => story.id)
      permissions.clear()
      try {
        for (const comment of await fresh(pull, state.control.lastComment)) {
          const parsed = parseSlash(comment.body, ids)
          const wantsWork = parsed.kind === 'command' && parsed.command.kind !== 'stop'
          if (wantsWork && isPerson(comment) && (await conversation.mayWrite(comment.login))) return true
        }
      } catch (error) {
        warn(`comments could not be read: ${error instanceof Error ? error.message : String(error)}`)
      }
      etag = null // they are still to be handled
      return false
    },

    // A job waits for minutes at most: what is said meanwhile is heard then.
    arrived: async () => false,

    async stick(pull, known, marker, body) {
      if (known !== null) {
        try {
          await api.rest.issues.updateComment({ owner, repo, comment_id: known, body })
          return known
        } catch (error) {
          if (statusOf(error) !== 404) throw error
        }
      }
      const there = await own(pull, marker)
      if (there === null) return say(pull, marker, body)
      await api.rest.issues.updateComment({ owner, repo, comment_id: there, body })
      return there
    },

    async stickAlone(pull, marker, body) {
      const written = await conversation.stick(pull, null, marker, body)
      const oldest = await own(pull, marker)
      if (oldest === null || oldest === written) return
      await api.rest.issues.deleteComment({ owner, repo, comment_id: written })
      await api.rest.issues.updateComment({ owner, repo, comment_id: oldest, body })
    },

    async react(comment, content) {
      try {
        await api.rest.reactions.createForIssueComment({ owner, repo, comment_id: comment, content })
      } catch (error) {
        warn(`the reaction could not be set: ${error instanceof Error ? error.message : String(error)}`)
      }
    },

    async reply(pull, comment, body) {
      const marker = `<!-- ralph:reply:${comment} -->`
      // The run that the comment started answers where nobody works, and the next job reads the comment all the same.
      if ((await own(pull, marker)) === null) await say(pull, marker, `${marker}\n${body}`)
    },

    async mayWrite(login) {
      const before = permissions.get(login)
      if (before !== undefined) return before
      const may = await api.rest.repos
        .getCollaboratorPermissionLevel({ owner, repo, username: login })
        .then(({ data }) => data.permission === 'admin' || data.permission === 'write')
        .catch((error: unknown) => {
          // Nobody of this repository. Anything else is no answer: a command must not be lost because GitHub was away.
          if (statusOf(error) === 404) return false
          throw error
        })
      permissions.set(login, may)
      return may
    },

    async newestComment(pull) {
      const comments = await fresh(pull, 0)
      etag = null
      return comments.at(-1)?.id ?? 0
    },
  }
  return conversation
}

/** A human, whose words have not changed since. */
export function isPerson(comment: Comment): boolean {
  return comment.type === 'User' && comment.login !== 'ghost' && !comment.edited
}
