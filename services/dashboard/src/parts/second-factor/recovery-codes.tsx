import { Button } from '@mantine/core'
import { Note } from '../card.tsx'
import { CopyButton } from '../copy-text.tsx'
import { save } from '../save-file.ts'

/** The ten codes, shown only once. */
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
          <b>Save your recovery codes now. They won’t be shown again.</b>
        </p>
        <p>Each code lets you log in once without your authenticator. Don’t keep them on your phone.</p>
      </Note>
      <pre className="pm-code">{text}</pre>
      <div className="pm-row">
        <Button
          variant="default"
          onClick={() => save(new Blob([`${text}\n`], { type: 'text/plain' }), 'paymesh-recovery-codes.txt')}
        >
          Download
        </Button>
        <CopyButton text={text} what="recovery codes" />
        <Button onClick={onStored}>I’ve saved them</Button>
      </div>
    </section>
  )
}
