import { Button } from '@mantine/core'
import type { Mode } from '#shared/domain/enumerations.ts'
import { Note } from '../../parts/card.tsx'
import { CopyButton } from '../../parts/copy-text.tsx'
import { UntrustedText } from '../../parts/untrusted-text.tsx'

interface NewKeyNoteProps {
  /** Null for a repetition: the key was in the first response. */
  readonly made: { readonly name: string; readonly apiKey: string | null }
  readonly mode: Mode
  readonly onStored: () => void
}

/** The newly created key, shown only this once. */
export function NewKeyNote({ made: { name, apiKey }, mode, onStored }: NewKeyNoteProps) {
  if (apiKey === null) {
    return (
      <Note tone="partial">
        <p>
          The key <UntrustedText>{name}</UntrustedText> was already created and can’t be shown again. If you did not
          save it, revoke it and create another one.
        </p>
        <Button size="xs" variant="default" onClick={onStored}>
          Close
        </Button>
      </Note>
    )
  }
  return (
    <Note tone="partial">
      <section className="pm-stack" aria-label="New key">
        <p>
          <b>
            Copy your {mode} key <UntrustedText>{name}</UntrustedText> now. It won’t be shown again.
          </b>{' '}
          Anyone who has it can use its permissions.
        </p>
        <div className="pm-row">
          <code className="pm-code" data-new-key="">
            {apiKey}
          </code>
          <CopyButton text={apiKey} what="key" />
        </div>
        <div>
          <Button onClick={onStored}>I’ve saved it</Button>
        </div>
      </section>
    </Note>
  )
}
