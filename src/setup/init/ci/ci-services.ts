// Services of CI, such as a database: the lines that a person adds to the generated workflow. Pure.
import { stringify } from 'yaml'
import type { CiService } from './workflow-jobs.ts'

/** One note for each kind of service; the container in one line, as YAML that can be copied. */
export function serviceNotes(services: readonly CiService[]): string[] {
  const names = new Map(services.map((service) => [service.name, service]))
  return [...names.values()].map(({ name, job, path, container }) => {
    const line = stringify({ [name]: container }, { collectionStyle: 'flow', lineWidth: 0 }).trim()
    return `CI starts the service ${name} for its tests (job ${job} of ${path}). Add it to ralph.yml, in the job "work", under services: ${line}`
  })
}
