import { IconCheck, IconCopy } from '@tabler/icons-react'
import { useEffect, useState } from 'react'
import { shorten } from '../format/amounts.ts'
import { announce } from '../frame/announcer.tsx'

/** An id, hash or address with a copy button. `short` keeps six characters of both ends: never for what someone must verify. */
export function CopyText(props: {
  readonly text: string
  /** Its name for the button: "Copy address". */
  readonly what: string
  readonly short?: boolean
  /** Shows this instead, for example nothing at all next to a long block. */
  readonly shown?: string
}) {
  const shown = props.shown ?? (props.short === true ? shorten(props.text) : props.text)
  return (
    <span className="pm-copy">
      {shown === '' ? null : (
        <span className="pm-mono" translate="no" title={shown === props.text ? undefined : props.text}>
          {shown}
        </span>
      )}
      <CopyButton text={props.text} what={props.what} />
    </span>
  )
}

const COPIED_MS = 2_000

/** The copy button alone; it says "Copied" for two seconds, and beside it where the browser forbids it. */
export function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
  const [copied, setCopied] = useState(false)
  const [forbidden, setForbidden] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), COPIED_MS)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setCopied(true)
      setForbidden(false)
      announce(`${what} copied`)
    } catch {
      setForbidden(true)
      announce('The browser did not allow copying. Select the text and copy it manually.')
    }
  }
  return (
    <>
      <button type="button" className="pm-icon-button" onClick={() => void copy()} aria-label={`Copy ${what}`}>
        {copied ? <IconCheck size={14} aria-hidden /> : <IconCopy size={14} aria-hidden />}
      </button>
      {forbidden ? <span className="pm-warn pm-small">Not copied: select the text.</span> : null}
    </>
  )
}
