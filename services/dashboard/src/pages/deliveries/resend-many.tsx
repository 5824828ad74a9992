import { IconRefresh } from '@tabler/icons-react'
import { api, trpc } from '../../api/trpc.ts'
import { ActionButton } from '../../parts/action/action-button.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { Note } from '../../parts/card.tsx'
import { useMay, useScope } from '../../session/scope.ts'

/** Maximum for one click; for more, use "Resend missed events…", which has no limit. */
const MAX = 100

/** Resends the selected deliveries. */
export function ResendMany({ chosen, onDone }: { readonly chosen: ReadonlySet<string>; readonly onDone: () => void }) {
  const scope = useScope()
  const may = useMay('support')
  const action = useAction({
    call: (ids, input: { readonly deliveryIds: string[] }) =>
      api.deliveries.resendMany.mutate({ ...scope, ...ids, ...input }),
    done: ({ sent, refused }) =>
      refused.length === 0
        ? `${sent.length} resent.`
        : `${sent.length} resent, ${refused.length} not: ${refused[0]?.message ?? ''}`,
    refresh: [trpc.deliveries.pathFilter()],
    onDone,
  })
  const what = chosen.size === 1 ? 'delivery' : 'deliveries'
  return (
    <div className="pm-filters">
      <ActionButton
        action={action}
        input={{ deliveryIds: [...chosen] }}
        leftSection={<IconRefresh size={16} aria-hidden />}
        reason="optional"
        refusal={
          !may
            ? 'Requires the Support role.'
            : chosen.size > MAX
              ? `At most ${MAX} at once; use “Resend missed events…”.`
              : null
        }
        confirm={
          <Note tone="pending">
            <p>
              Each event is resent as a new delivery with the same event ID, so a receiver that deduplicates by ID
              handles it once. Deliveries that have not been attempted yet are not duplicated.
            </p>
          </Note>
        }
      >
        Resend {chosen.size} {what}
      </ActionButton>
    </div>
  )
}
