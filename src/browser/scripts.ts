// What is asked of a page, in a world of its own that shares nothing with the page but the document. Each gives pairs of
// words: what, and its text.

/** Alerts, and error overlays of development servers, that can be seen. */
export const ALERTS = `(() => {
  const overlays = [
    ['error overlay of Vite', 'vite-error-overlay', '.message-body, .message'],
    ['error overlay of Next.js', 'nextjs-portal', '[data-nextjs-dialog], [data-nextjs-error-overlay], [data-nextjs-toast-errors]'],
    ['error overlay of webpack', '#webpack-dev-server-client-overlay', null],
    ['error overlay of Parcel', '#__parcel__error__overlay__', null],
  ]
  const found = []
  for (const [what, selector, inside] of overlays) {
    const host = document.querySelector(selector)
    const told = host && inside ? (host.shadowRoot ?? host).querySelector(inside) : host
    if (told) found.push([what, told.innerText || told.textContent || 'see the screenshot'])
  }
  for (const one of document.querySelectorAll('[role=alert], [role=alertdialog]')) {
    const text = (one.innerText ?? '').trim()
    const { width, height } = one.getBoundingClientRect()
    const isSeen = one.checkVisibility({ opacityProperty: true, visibilityProperty: true })
    // Frameworks keep one of a pixel for screen readers.
    if (text && isSeen && width > 1 && height > 1) found.push(['alert', text])
  }
  return found.slice(0, 20).map(([what, text]) => [what, text.slice(0, 1000)])
})()`

/** After axe-core: what people with disabilities would meet. */
export const VIOLATIONS = `axe.run(document, { resultTypes: ['violations'], iframes: false }).then(({ violations }) =>
  violations.slice(0, 20).map(({ id, impact, help, nodes }) => {
    const where = nodes.slice(0, 3).map(({ target }) => target.join(' ').slice(0, 120)).join(', ')
    const more = nodes.length > 3 ? \` and \${nodes.length - 3} more\` : ''
    return [\`accessibility (\${impact ?? 'minor'}, \${id})\`, \`\${help}: \${where}\${more}\`]
  }))`
