import { Button, Checkbox, Modal } from '@mantine/core'
import { useState } from 'react'
import { Note } from '../../parts/card.tsx'
import { CopyText } from '../../parts/copy-text.tsx'

/** Shows a signing secret the only time that it is shown. It closes when the person says that it is stored. */
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
          <p>It is not shown again. Whoever has it can forge events of yours: put it where your other secrets are.</p>
        </Note>
        <div className="pm-code">
          <CopyText text={secret ?? ''} what="signing secret" />
        </div>
        <Checkbox
          label="I stored it"
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
