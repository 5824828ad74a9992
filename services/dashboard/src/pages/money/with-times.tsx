import { Fragment } from 'react'
import { revealHidden } from '../../format/untrusted.ts'
import { Time } from '../../parts/time.tsx'

const ISO = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/

/** A sentence of the server with its times in the operator's time zone. */
export function WithTimes({ text }: { readonly text: string }) {
  const parts = text.split(ISO)
  return (
    <>
      {parts.map((part, index) => {
        // Sentences do not change their order, so the index is a valid key.
        const key = `${index}`
        return <Fragment key={key}>{ISO.test(part) ? <Time at={part} detail /> : revealHidden(part)}</Fragment>
      })}
    </>
  )
}
