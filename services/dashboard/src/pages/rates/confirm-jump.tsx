import { IconAlertTriangle } from '@tabler/icons-react'
import { api, trpc } from '../../api/trpc.ts'
import { showRate } from '../../format/amounts.ts'
import { ActionButton } from '../../parts/action/action-button.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { Note } from '../../parts/card.tsx'
import { Time } from '../../parts/time.tsx'

/** The rates as the server sends them. */
export type Board = Awaited<ReturnType<typeof api.rates.board.query>>
/** One coin or currency of them. */
export type Price = Board['coins'][number]

/** A jump that is held back, with the button to confirm that it is real. */
export function ConfirmJump({ price: { name, waiting } }: { readonly price: Price }) {
  const action = useAction({
    call: (ids, input: { readonly price: string }) => api.rates.confirm.mutate({ name, reason: '', ...ids, ...input }),
    done: `Confirmed: ${name} is published again in about 30 seconds.`,
    refresh: [trpc.rates.pathFilter()],
  })
  if (waiting === null) return null
  const shown = showRate(waiting.price)
  return (
    <Note tone="danger" icon={<IconAlertTriangle size={18} aria-hidden />}>
      <p>
        <b>{name}</b> jumped to {shown} and has no rate since <Time at={waiting.since} />. Compare it with a market you
        trust.
      </p>
      <ActionButton
        action={action}
        input={{ price: waiting.price }}
        reason="required"
        color="red"
        variant="default"
        confirm={
          <p>
            {name} will be priced at about {shown} as long as the sources stay within 3 % of it, for an hour at most. If
            the sources are wrong, payers pay the wrong amount.
          </p>
        }
      >
        Confirm {name} at {shown}
      </ActionButton>
    </Note>
  )
}
