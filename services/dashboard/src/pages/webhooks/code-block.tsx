import type { ReactNode } from 'react'

/** Preformatted text. It scrolls when it is long, so it must be focusable by keyboard (WCAG 2.1.1). */
export function CodeBlock({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
    <section className="pm-code" aria-label={label} tabIndex={0}>
      {children}
    </section>
  )
}
