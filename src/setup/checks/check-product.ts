// What is product in the commit that a run would start from: only that may differ between two gate runs.
import { isCode } from '../../gates/product/product.ts'
import { createProductRules } from '../../gates/product/rules.ts'
import { pluralize } from '../../report/figures.ts'
import { displayPath } from '../../system/path-text.ts'
import { type CheckResult, okResult, requireCheckout, type Subject, warningResult } from './subject.ts'

export async function checkProduct(subject: Subject): Promise<CheckResult> {
  const { workspace, commit, ci } = requireCheckout(subject)
  const { repository } = workspace
  const { product } = ci?.settings ?? subject.settings
  const code = (await repository.files(commit)).filter(isCode)
  if (code.length === 0)
    return okResult('there is no code yet; Ralph looks for the product again when a story has added code')
  const rules = createProductRules(product, {
    paths: (at) => repository.files(at),
    read: (at, path) => repository.read(at, path),
  })
  const isProduct = await rules.of(commit, commit)
  const found = code.filter((path) => isProduct(path))
  const files = `${pluralize(code.length, 'file')} with code`
  if (found.length === 0) {
    const effect =
      'Ralph cannot tell whether a story weakens its own checks, or whether a test covers its change'
    return warningResult(`none of ${files} counts as the product. ${effect}`, '', FIX)
  }
  const isAll = found.length === code.length
  if (isAll && product.length > 0)
    return warningResult('every file with code counts as the product, even the tests', '', FIX)
  const named = found.slice(0, MAX_NAMED).map((path) => displayPath(path))
  const more = found.length > MAX_NAMED ? ` and ${found.length - MAX_NAMED} more` : ''
  const by = product.length > 0 ? 'the setting `product`' : 'the layout of the project'
  return okResult(
    `${found.length} of ${files} are the product (${named.join(', ')}${more}), according to ${by}`,
  )
}

const FIX = 'set `product: [FOLDER/**]` in ralph.config.yml (docs/gates.md)'
const MAX_NAMED = 3
