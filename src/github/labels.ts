// The labels of the pull request, set where they change. Where the token may not, there are none, and nobody is told.
import { LABELS, type Label } from '../report/labels.ts'
import { type GitHub, isForbidden, ONCE, statusOf } from './client.ts'
import type { Pull } from './pull.ts'

export class Labels {
  readonly #github: GitHub
  #may = true

  constructor(github: GitHub) {
    this.#github = github
  }

  /** The pull request bears these of ours and no others of ours; `pull.labels` are what it is known to bear. */
  async set(pull: Pull, wanted: readonly Label[]): Promise<void> {
    const missing = wanted.filter((name) => !pull.labels.includes(name))
    const wrong = pull.labels.filter(
      (name) => Object.hasOwn(LABELS, name) && !wanted.some((one) => one === name),
    )
    if (!this.#may || missing.length + wrong.length === 0) return
    const { api, at } = this.#github
    const issue = { ...at, issue_number: pull.number }
    try {
      for (const name of missing) await this.#make(name)
      if (missing.length > 0) await api.rest.issues.addLabels({ ...issue, labels: missing })
      for (const name of wrong)
        await api.rest.issues.removeLabel({ ...issue, name }).catch((error: unknown) => {
          // A person was quicker.
          if (statusOf(error) !== 404) throw error
        })
      pull.labels = [...pull.labels.filter((name) => !wrong.includes(name)), ...missing]
    } catch (error) {
      if (!isForbidden(error)) throw error
      this.#may = false
    }
  }

  /** One that is there stays as people have it; one that may not be made is made by GitHub, in grey. */
  async #make(name: Label): Promise<void> {
    const { api, at } = this.#github
    await api.rest.issues.createLabel({ ...at, name, ...LABELS[name], ...ONCE }).catch((error: unknown) => {
      if (statusOf(error) !== 422 && !isForbidden(error)) throw error
    })
  }
}
