import { Button, Modal, TextInput } from '@mantine/core'
import { type FormEvent, useState, useSyncExternalStore } from 'react'
import { failureOf } from '../api/failure.ts'
import { sendStepUpCode } from '../session/step-up-code.ts'

let waiting: ((given: boolean) => void) | null = null
const listeners = new Set<() => void>()

function settle(given: boolean): void {
  waiting?.(given)
  waiting = null
  for (const tell of listeners) tell()
}

/** Asks for a code of the authenticator, in place. True when it was given, false when the person closed the question. */
async function askStepUp(): Promise<boolean> {
  settle(false)
  return await new Promise((resolve) => {
    waiting = resolve
    for (const tell of listeners) tell()
  })
}

/** Makes the call; when the server wants a code first, asks for it and makes the same call again. A closed question rethrows. */
export async function withStepUp<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (failureOf(error).needsStepUp && (await askStepUp())) return await call()
    throw error
  }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The question itself; the frame draws it once. */
export function StepUpDialog() {
  const open = useSyncExternalStore(subscribe, () => waiting !== null)
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
      await sendStepUpCode(code.replaceAll(' ', ''))
      close(true)
    } catch (error) {
      setProblem(failureOf(error).message)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Modal opened={open} onClose={() => close(false)} title="Confirm that it is you" zIndex={400}>
      <form onSubmit={(event) => void send(event)}>
        <TextInput
          label="Code of your authenticator"
          description="Six digits. You may paste them. Good for a few minutes."
          value={code}
          onChange={({ currentTarget }) => setCode(currentTarget.value)}
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
