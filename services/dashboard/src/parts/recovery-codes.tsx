import { Button } from '@mantine/core'
import { Note } from './card.tsx'
import { CopyButton } from './copy-text.tsx'
import { save } from './save-file.ts'

/** The ten codes, shown this one time. */
export function RecoveryCodes({
  codes,
  onStored,
}: {
  readonly codes: readonly string[]
  readonly onStored: () => void
}) {
  const text = codes.join('\n')
  return (
    <section className="pm-stack" aria-label="Recovery codes">
      <Note tone="partial">
        <p>
          <b>These are your recovery codes. They are shown once.</b>
        </p>
        <p>Each logs you in one time without the authenticator. Keep them away from your phone.</p>
      </Note>
      <pre className="pm-code">{text}</pre>
      <div className="pm-row">
        <Button
          variant="default"
          onClick={() => save(new Blob([`${text}\n`], { type: 'text/plain' }), 'paymesh-recovery-codes.txt')}
        >
          Save as a file
        </Button>
        <CopyButton text={text} what="recovery codes" />
        <Button onClick={onStored}>I stored them</Button>
      </div>
    </section>
  )
}
