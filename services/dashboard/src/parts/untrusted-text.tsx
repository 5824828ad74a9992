import { revealHidden } from '../format/reveal-hidden.ts'

/** Text written by others: names, orders, notes, responses of servers. It cannot reverse the text around it, and hides no characters. */
export function UntrustedText({ children, mono }: { readonly children: string; readonly mono?: boolean }) {
  return (
    <bdi dir="auto" className={mono === true ? 'pm-mono' : undefined}>
      {revealHidden(children)}
    </bdi>
  )
}
