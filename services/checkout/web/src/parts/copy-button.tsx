import { useEffect, useState } from 'preact/hooks'
import { useSpeech } from '../locales/locale.tsx'
import { useAnnounce } from './announcer.tsx'
import { Icon } from './icon.tsx'

const SHOWN_MS = 2_000

async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}

/** Copies exactly the text next to it; the button confirms it for two seconds. Where the browser forbids it, a sentence says so. */
export function CopyButton(props: { readonly text: string; readonly label: string; readonly done: string }) {
  const { say } = useSpeech()
  const announce = useAnnounce()
  const [isCopied, setCopied] = useState(false)
  const [isForbidden, setForbidden] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [isCopied])
  const copy = async (): Promise<void> => {
    const worked = await copyText(props.text)
    setCopied(worked)
    setForbidden(!worked)
    announce(worked ? props.done : say('copy.failed'))
  }
  return (
    <>
      <button
        type="button"
        class={isCopied ? 'button copy copied' : 'button copy'}
        aria-label={props.label}
        onClick={() => void copy()}
      >
        <Icon name={isCopied ? 'check' : 'copy'} />
        {say(isCopied ? 'copied' : 'copy')}
      </button>
      {isForbidden && <p class="row-note copy-failed">{say('copy.failed')}</p>}
    </>
  )
}
