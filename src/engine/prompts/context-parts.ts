// The parts of context.md, for templates that use them separately. Pure.

const OVERVIEW = /^#{1,2}[ \t]+(?:project[ \t]+)?(?:overview|summary)\b/i

/** `overview`: the text below a heading such as `# Overview`, empty without one. `rest`: all other sections. */
export function contextParts(context: string): { overview: string; rest: string } {
  const sections = context.split(/^(?=#{1,2}[ \t])/m)
  const isOverview = (section: string) => OVERVIEW.test(section)
  const overview = sections.filter(isOverview).map((section) => section.replace(/^[^\n]*\n?/, '').trim())
  const rest = sections.filter((section) => !isOverview(section))
  return { overview: overview.join('\n\n'), rest: rest.join('').trim() }
}
