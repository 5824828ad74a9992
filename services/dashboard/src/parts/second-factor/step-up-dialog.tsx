import { Button, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { failureOf } from '../../api/failure.ts'
import { SESSION_KEY } from '../../api/query-client.ts'
import { api, trpc } from '../../api/trpc.ts'
import { bindText } from '../bind-text.ts'
import { Modal } from '../dialog/loaded-modal.tsx'
import { Enrolment } from './enrolment.tsx'
import { RecoveryCodes } from './recovery-codes.tsx'
import { requiredProof, settle } from './step-up.ts'

/** The dialog itself; the frame renders it once. */
export function StepUpDialog() {
  const proof = requiredProof.use()
  return (
    <>
      <CodeDialog isOpen={proof === 'code'} />
      <AuthenticatorDialog isOpen={proof === 'authenticator'} />
    </>
  )
}

/** Sets up an authenticator, shows the recovery codes, and continues the interrupted action. */
function AuthenticatorDialog({ isOpen }: { readonly isOpen: boolean }) {
  const client = useQueryClient()
  const [codes, setCodes] = useState<readonly string[] | null>(null)
  const goOn = () => {
    setCodes(null)
    settle(true)
    void client.invalidateQueries(trpc.auth.pathFilter())
    void client.invalidateQueries({ queryKey: SESSION_KEY })
  }
  return (
    <Modal
      opened={isOpen}
      onClose={() => (codes === null ? settle(false) : goOn())}
      title="Turn on two-factor authentication first"
      zIndex={400}
      size="lg"
    >
      {codes === null ? (
        <div className="pm-stack">
          <p>This change requires two-factor authentication. Setting it up takes a minute; then you can continue.</p>
          {isOpen ? <Enrolment isReplacing={false} onDone={setCodes} onCancel={() => settle(false)} /> : null}
        </div>
      ) : (
        <RecoveryCodes codes={codes} onStored={goOn} />
      )}
    </Modal>
  )
}

function CodeDialog({ isOpen }: { readonly isOpen: boolean }) {
  const [code, setCode] = useState('')
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const close = (given: boolean) => {
    setCode('')
    setProblem(null)
    settle(given)
  }
  const send = async (event: FormEvent) => {
    event.preventDefault()
    if (busy) return
    setBusy(true)
    try {
      await api.auth.stepUp.mutate({ code: code.replaceAll(' ', '') })
      close(true)
    } catch (error) {
      setProblem(failureOf(error).message)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Modal opened={isOpen} onClose={() => close(false)} title="Confirm it’s you" zIndex={400}>
      <form onSubmit={(event) => void send(event)}>
        <TextInput
          label="Authenticator code"
          description="6-digit code. You can paste it. Valid for a few minutes."
          {...bindText(code, setCode)}
          error={problem}
          inputMode="numeric"
          autoComplete="one-time-code"
          data-autofocus
          required
        />
        <div className="pm-row pm-end pm-gap-top">
          <Button variant="default" onClick={() => close(false)}>
            Not now
          </Button>
          <Button type="submit" loading={busy}>
            Confirm
          </Button>
        </div>
      </form>
    </Modal>
  )
}
