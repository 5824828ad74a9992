import type { ReactNode } from 'react'

/** Text in lines, as it is. It scrolls by itself when it is long, hence a keyboard can stand in it (WCAG 2.1.1). */
export function CodeBlock({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reached by keyboard
    <section className="pm-code" aria-label={label} tabIndex={0}>
      {children}
    </section>
  )
}
