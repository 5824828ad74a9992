import { Radio } from '@mantine/core'
import { useState } from 'react'
import { api, trpc } from '../../api/trpc.ts'
import { ActionForm } from '../../parts/action/action-form.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { CopyText } from '../../parts/copy-text.tsx'
import { Modal } from '../../parts/dialog/modal.tsx'
import { useScope } from '../../session/scope.ts'

const HOUR_MS = 3_600_000

/** In the server's format: 32 random bytes. */
function newSecret(): string {
  return `whsec_${btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32))))}`
}

interface RotateProps {
  readonly endpointId: string
  readonly open: boolean
  readonly onClose: () => void
  readonly onSecret: (secret: string) => void
}

/** Gives an endpoint a new secret, shown before its first use so that receivers can accept it by then. Each opening offers another one. */
export function RotateDialog(props: RotateProps) {
  return (
    // A click outside the dialog must not discard a secret that receivers already have.
    <Modal opened={props.open} onClose={props.onClose} title="Rotate the signing secret" closeOnClickOutside={false}>
      {props.open ? <Form {...props} /> : null}
    </Modal>
  )
}

function Form({ endpointId, onClose, onSecret }: RotateProps) {
  const scope = useScope()
  const [hours, setHours] = useState('24')
  const [secret] = useState(newSecret)
  const action = useAction({
    call: (ids, input: { readonly endpointId: string; readonly overlapMs: number; readonly newSecret: string }) =>
      api.endpoints.rotate.mutate({ ...scope, ...ids, ...input }),
    refresh: [trpc.endpoints.pathFilter()],
    onDone: (done) => {
      onClose()
      onSecret(done.secret)
    },
  })
  return (
    <ActionForm
      action={action}
      onSubmit={() => void action.run({ endpointId, overlapMs: Number(hours) * HOUR_MS, newSecret: secret })}
      submit="Rotate secret"
      onCancel={onClose}
    >
      <p>
        Deploy both secrets to your receiver first, then rotate. From then on, only the new secret signs{' '}
        <span className="pm-mono">X-Webhook-Signature</span>. The <span className="pm-mono">webhook-signature</span>{' '}
        list also contains a signature by the old secret until it expires.
      </p>
      <p>
        The new secret: <CopyText text={secret} what="new secret" />
      </p>
      <Radio.Group label="Keep the old secret valid for" value={hours} onChange={setHours}>
        <Radio mt="xs" value="24" label="24 hours" />
        <Radio mt="xs" value="168" label="7 days" />
        <Radio mt="xs" value="0" label="Expire now (it leaked)" />
      </Radio.Group>
    </ActionForm>
  )
}
