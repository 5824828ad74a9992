import { Button } from '@mantine/core'
import type { Mode } from '#shared/domain/enumerations.ts'
import { Note } from '../../parts/card.tsx'
import { CopyButton } from '../../parts/copy-text.tsx'
import { ForeignText } from '../../parts/foreign-text.tsx'

interface NewKeyNoteProps {
  /** Null when this was a repetition: the key was in the first answer. */
  readonly made: { readonly name: string; readonly apiKey: string | null }
  readonly mode: Mode
  readonly onStored: () => void
}

/** The key that was just made, this one time. */
export function NewKeyNote({ made: { name, apiKey }, mode, onStored }: NewKeyNoteProps) {
  if (apiKey === null) {
    return (
      <Note tone="partial">
        <p>
          The key <ForeignText>{name}</ForeignText> was made already, and it is shown only once. If you do not have it,
          revoke it and create another one.
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
            This is the {mode} key <ForeignText>{name}</ForeignText>. It is shown once.
          </b>{' '}
          Who has it can do what you allowed it to do.
        </p>
        <div className="pm-row">
          <code className="pm-code" data-new-key="">
            {apiKey}
          </code>
          <CopyButton text={apiKey} what="key" />
        </div>
        <div>
          <Button onClick={onStored}>I stored it</Button>
        </div>
      </section>
    </Note>
  )
}
