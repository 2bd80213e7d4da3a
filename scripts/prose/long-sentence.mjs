// textlint rule: a sentence of more than `max` words, and a table cell of more than `maxCell`.
import { SentenceSplitterSyntax, splitAST } from 'sentence-splitter'

const wordsOf = (text) => text.match(/[\p{L}\p{N}][^\s]*/gu) ?? []

/** What a node shows: code is one word, a link its words. */
function shown(node) {
  if (node.type === 'Code') return 'X'
  if (node.type === 'Break') return ' '
  if (node.children) return node.children.map(shown).join('')
  return node.type === 'Html' || node.type === 'Image' ? '' : (node.value ?? node.raw)
}

export default function longSentence({ Syntax, RuleError, report }, { max, maxCell, measure = () => {} }) {
  const check = (node) => {
    for (const sentence of splitAST(node).children) {
      if (sentence.type !== SentenceSplitterSyntax.Sentence) continue
      // A colon that introduces a list or an example ends an idea, as a period does.
      const text = shown(sentence).trim()
      const count = wordsOf(text).length
      measure(count, text)
      if (count > max) report(sentence, new RuleError(`a sentence of ${count} words, more than ${max}`))
    }
  }
  return {
    [Syntax.Paragraph]: check,
    [Syntax.Header]: check,
    [Syntax.TableCell](node) {
      const text = shown(node)
      const count = wordsOf(text).length
      for (const sentence of text.split(/(?<=[.!?;])\s+(?=\S)/)) measure(wordsOf(sentence).length, sentence)
      if (count > maxCell) report(node, new RuleError(`a table cell of ${count} words, more than ${maxCell}`))
    },
  }
}
