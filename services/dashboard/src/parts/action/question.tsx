import { Button, Textarea } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { bindText } from '../bind-text.ts'
import { Modal } from '../dialog/loaded-modal.tsx'
import type { ActionButtonProps } from './action-button-props.ts'
import { ActionFailure } from './action-failure.tsx'

/** The confirmation of an action, with its reason. */
export function Question<TInput>(
  props: ActionButtonProps<TInput> & { readonly open: boolean; readonly onClose: () => void },
) {
  const { action, input, children, confirm, reason, color } = props
  const [text, setText] = useState('')
  const given = text.trim()
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const output = await action.run(input, given === '' ? undefined : given)
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
            description="Saved in the audit log."
            required={reason === 'required'}
            {...bindText(text, setText)}
            maxLength={500}
            autosize
            minRows={2}
            data-autofocus
          />
        )}
        <ActionFailure failure={action.failure} />
        <div className="pm-row pm-end pm-gap-top">
          <Button variant="default" onClick={props.onClose}>
            {props.dismiss ?? 'Cancel'}
          </Button>
          <Button
            type="submit"
            loading={action.busy}
            disabled={reason === 'required' && given === ''}
            color={props.confirmColor ?? color ?? 'petrol'}
          >
            {children}
          </Button>
        </div>
      </form>
    </Modal>
  )
}
