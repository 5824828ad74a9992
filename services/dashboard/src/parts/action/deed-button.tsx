import { Button, type ButtonProps, Modal, Textarea, Tooltip } from '@mantine/core'
import { type FormEvent, type ReactNode, useId, useState } from 'react'
import { Link } from 'react-router'
import type { Failure } from '../../api/failure.ts'
import { Note } from '../card.tsx'
import { CopyText } from '../copy-text.tsx'
import type { Deed } from './use-deed.ts'

export interface DeedButtonProps<TInput> extends Omit<ButtonProps, 'onClick' | 'loading' | 'children'> {
  readonly deed: Deed<TInput>
  readonly input: TInput
  /** Says what it will do: "Accept 0.00096 BTC as paid". */
  readonly children: ReactNode
  /** Opens a question first: what happens and what does not. Needed for what cannot be undone. */
  readonly confirm?: ReactNode
  /** Asks for a reason for the audit trail, in the same question. */
  readonly reason?: 'required' | 'optional'
  /** Why this person may not, in words: the button stays visible and says so. Null when it may. */
  readonly refusal?: string | null | undefined
}

/** A button that changes something. Its failure is shown beside it, a question with reason where it matters. */
export function DeedButton<TInput>(props: DeedButtonProps<TInput>) {
  const { deed, input, children, confirm, reason, refusal, ...look } = props
  const [asking, setAsking] = useState(false)
  const refusalId = useId()
  if (refusal !== undefined && refusal !== null) {
    return (
      <Tooltip label={refusal}>
        <span>
          <Button
            {...look}
            aria-disabled
            aria-describedby={refusalId}
            data-disabled
            onClick={(event) => event.preventDefault()}
          >
            {children}
          </Button>
          <span id={refusalId} className="unseen">
            {refusal}
          </span>
        </span>
      </Tooltip>
    )
  }
  const asks = confirm !== undefined || reason !== undefined
  const click = () => {
    if (!asks) return void deed.run(input)
    deed.clear()
    setAsking(true)
  }
  return (
    <>
      <Button {...look} loading={deed.busy} onClick={click}>
        {children}
      </Button>
      {asks ? (
        <Question {...props} open={asking} onClose={() => setAsking(false)} />
      ) : (
        <DeedFailure failure={deed.failure} />
      )}
    </>
  )
}

function Question<TInput>(props: DeedButtonProps<TInput> & { readonly open: boolean; readonly onClose: () => void }) {
  const { deed, input, children, confirm, reason, color } = props
  const [text, setText] = useState('')
  const given = text.trim()
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const output = await deed.run(input, given === '' ? undefined : given)
    if (output === null) return
    setText('')
    props.onClose()
  }
  return (
    <Modal opened={props.open} onClose={props.onClose} title={children}>
      <form onSubmit={(event) => void submit(event)}>
        {confirm === undefined ? null : <div className="pm-question">{confirm}</div>}
        {reason === undefined ? null : (
          <Textarea
            label={reason === 'required' ? 'Reason' : 'Reason (optional)'}
            description="Goes to the audit trail."
            required={reason === 'required'}
            value={text}
            onChange={({ currentTarget }) => setText(currentTarget.value)}
            maxLength={500}
            autosize
            minRows={2}
            data-autofocus
          />
        )}
        <DeedFailure failure={deed.failure} />
        <div className="pm-row pm-end pm-gap-top">
          <Button variant="default" onClick={props.onClose}>
            Cancel
          </Button>
          <Button
            type="submit"
            loading={deed.busy}
            disabled={reason === 'required' && given === ''}
            color={color ?? 'petrol'}
          >
            {children}
          </Button>
        </div>
      </form>
    </Modal>
  )
}

/** Why a deed failed; a conflict is not an error: another person was faster, and nothing was done twice. */
export function DeedFailure({ failure }: { readonly failure: Failure | null }) {
  if (failure === null || failure.needsStepUp) return null
  return (
    <div role="alert" className="pm-gap-top">
      <Note tone={failure.code === 'CONFLICT' ? 'pending' : 'danger'}>
        <p>{failure.message}</p>
        {Object.entries(failure.needsAuthenticator ? {} : failure.fields).map(([path, words]) => (
          <p key={path} className="pm-small">
            {path}: {words}
          </p>
        ))}
        {failure.needsAuthenticator ? (
          <p>
            <Link to="/account">Set up an authenticator</Link>
          </p>
        ) : null}
        {failure.code === 'OFFLINE' ? <p>Try again: it will not be done twice.</p> : null}
        {failure.requestId === null || failure.code === 'CONFLICT' ? null : (
          <p className="pm-small">
            Request <CopyText text={failure.requestId} what="request ID" short />
          </p>
        )}
      </Note>
    </div>
  )
}
