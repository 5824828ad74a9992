import { revealHidden } from '../format/foreign.ts'

/** Text that others wrote: names, orders, notes, answers of servers. It cannot turn the text around it, and nothing hides in it. */
export function ForeignText({ children, mono }: { readonly children: string; readonly mono?: boolean }) {
  return (
    <bdi dir="auto" className={mono === true ? 'pm-mono' : undefined}>
      {revealHidden(children)}
    </bdi>
  )
}
