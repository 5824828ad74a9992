import { IconRefresh } from '@tabler/icons-react'
import { api, trpc } from '../../api/trpc.ts'
import { DeedButton } from '../../parts/action/deed-button.tsx'
import { useDeed } from '../../parts/action/use-deed.ts'
import { Note } from '../../parts/card.tsx'
import { useMay, useScope } from '../../session/scope.ts'

/** As many as one click may send; more go by "Recover since…", which has no limit. */
const MAX = 100

/** Sends the selected deliveries again. */
export function ResendMany({ chosen, onDone }: { readonly chosen: ReadonlySet<string>; readonly onDone: () => void }) {
  const scope = useScope()
  const may = useMay('support')
  const deed = useDeed({
    call: (ids, input: { readonly deliveryIds: string[] }) =>
      api.deliveries.resendMany.mutate({ ...scope, ...ids, ...input }),
    done: ({ sent, refused }) =>
      refused.length === 0
        ? `${sent.length} sent again.`
        : `${sent.length} sent again, ${refused.length} not: ${refused[0]?.message ?? ''}`,
    refresh: [trpc.deliveries.pathFilter()],
    onDone,
  })
  if (chosen.size === 0) return null
  const what = chosen.size === 1 ? 'delivery' : 'deliveries'
  return (
    <div className="pm-filters">
      <DeedButton
        deed={deed}
        input={{ deliveryIds: [...chosen] }}
        leftSection={<IconRefresh size={16} aria-hidden />}
        reason="optional"
        refusal={
          !may ? 'Needs the role Support.' : chosen.size > MAX ? `At most ${MAX} at once; use “Recover since…”.` : null
        }
        confirm={
          <Note tone="pending">
            <p>
              Each event is sent again as a new delivery with the same event id, so a receiver that keeps ids handles it
              once. Deliveries that wait for their first try are not doubled.
            </p>
          </Note>
        }
      >
        Resend {chosen.size} {what}
      </DeedButton>
    </div>
  )
}
