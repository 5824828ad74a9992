import { Button } from '@mantine/core'
import { useId, useState } from 'react'
import { Hint } from '../hint.tsx'
import { useLoaded } from '../use-loaded.ts'
import type { ActionButtonProps } from './action-button-props.ts'
import { ActionFailure } from './action-failure.tsx'

/** A button that changes something. Its failure is shown next to it, with a confirmation and reason where needed. */
export function ActionButton<TInput>(props: ActionButtonProps<TInput>) {
  const { action, input, children, confirm, reason, refusal, dismiss: _, confirmColor: __, ...look } = props
  const [isOpen, setOpen] = useState(false)
  const refusalId = useId()
  const Question = useLoaded(
    isOpen,
    async () => (await import('./question.tsx')).Question<TInput>,
    () => setOpen(false),
  )
  if (refusal !== undefined && refusal !== null) {
    return (
      <Hint label={refusal}>
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
      </Hint>
    )
  }
  const hasQuestion = confirm !== undefined || reason !== undefined
  const click = () => {
    if (!hasQuestion) return void action.run(input)
    action.clear()
    setOpen(true)
  }
  return (
    <>
      <Button {...look} loading={action.busy} onClick={click}>
        {children}
      </Button>
      {hasQuestion ? (
        Question !== null && <Question {...props} open={isOpen} onClose={() => setOpen(false)} />
      ) : (
        <ActionFailure failure={action.failure} />
      )}
    </>
  )
}
