// Which candidate a work tree has, so that steps on another one check it out first.

import { hasCandidate } from '../model/attempt.ts'
import type { Event } from '../model/event.ts'
import type { RepositoryPort } from '../model/ports.ts'
import type { Step } from '../model/step.ts'

export class TreeOfCandidates {
  readonly #repository: Pick<RepositoryPort, 'checkOut'>
  #commit: string | null = null

  constructor(repository: Pick<RepositoryPort, 'checkOut'>) {
    this.#repository = repository
  }

  /** Checks out the candidate of a step that looks at one, such as one that a killed run or another worker built. */
  async showFor(step: Step): Promise<void> {
    const commit = 'attempt' in step && hasCandidate(step.attempt) ? step.attempt.candidate.commit : null
    if (commit !== null && commit !== this.#commit) await this.#repository.checkOut(commit, null)
    this.#commit = commit
  }

  /** The steps that build a candidate leave it in the tree. */
  saw(event: Event): void {
    if (event.kind === 'guarded' || event.kind === 'rebased') this.#commit = event.candidate.commit
    else if (event.kind === 'entered' || event.kind === 'rejected' || event.kind === 'returned')
      this.#commit = null
  }
}
