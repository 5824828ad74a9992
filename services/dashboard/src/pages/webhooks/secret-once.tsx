import { Button, Checkbox } from '@mantine/core'
import { useState } from 'react'
import { Note } from '../../parts/card.tsx'
import { CopyText } from '../../parts/copy-text.tsx'
import { Modal } from '../../parts/dialog/modal.tsx'

/** Shows a signing secret once. It closes when the person confirms that it is stored. */
export function SecretOnce({ secret, onClose }: { readonly secret: string | null; readonly onClose: () => void }) {
  const [stored, setStored] = useState(false)
  const close = () => {
    setStored(false)
    onClose()
  }
  return (
    <Modal
      opened={secret !== null}
      onClose={close}
      title="Signing secret"
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <div className="pm-stack">
        <Note tone="partial">
          <p>Copy it now; it won’t be shown again. Anyone who has it can forge events.</p>
        </Note>
        <div className="pm-code">
          <CopyText text={secret ?? ''} what="signing secret" />
        </div>
        <Checkbox
          label="I’ve saved it"
          checked={stored}
          onChange={({ currentTarget }) => setStored(currentTarget.checked)}
        />
        <div className="pm-row pm-end">
          <Button onClick={close} disabled={!stored}>
            Close
          </Button>
        </div>
      </div>
    </Modal>
  )
}
