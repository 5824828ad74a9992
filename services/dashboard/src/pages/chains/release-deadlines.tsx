import { useQuery } from '@tanstack/react-query'
import { NETWORKS } from '#shared/domain/networks.ts'
import { api, trpc } from '../../api/trpc.ts'
import { showCount } from '../../format/amounts.ts'
import { ActionButton } from '../../parts/action/action-button.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { QueryView } from '../../parts/query-view.tsx'
import { Time } from '../../parts/time.tsx'
import type { Chain } from './chain-badge.tsx'

/** Lets deadlines of a stuck network take effect without a scan, after showing how many invoices that ends and what it means. */
export function ReleaseDeadlines({ chain: { mode, network, released } }: { readonly chain: Chain }) {
  const plan = useQuery(trpc.chains.releasePlan.queryOptions({ mode, network }))
  const action = useAction({
    call: (ids, input: { readonly through: number }) =>
      api.chains.releaseDeadlines.mutate({ mode, network, reason: '', ...ids, ...input }),
    done: ({ changed, plan: { waiting } }) =>
      changed ? `Released: ${invoices(waiting)} will expire within seconds.` : 'There was nothing to release.',
    refresh: [trpc.chains.pathFilter()],
  })
  return (
    <section className="pm-stack">
      <h3>Deadlines</h3>
      <QueryView
        query={plan}
        what="waiting invoices"
        skeleton={
          <p className="pm-muted" aria-busy="true">
            Counting waiting invoices…
          </p>
        }
      >
        {({ waiting, through, passedUntil }) => (
          <>
            <p>
              {invoices(waiting)} on {NETWORKS[network].name} {waiting === 1 ? 'is' : 'are'} past the deadline but
              cannot expire yet. Blocks are scanned up to <Time at={passedUntil} />.
            </p>
            {released === null ? null : (
              <p className="pm-muted">
                Released up to <Time at={released.through} detail /> by {released.by.replace(/^user:/, '')}.
              </p>
            )}
            <ActionButton
              action={action}
              input={{ through }}
              reason="required"
              color="red"
              variant="default"
              confirm={<Meaning waiting={waiting} through={through} network={NETWORKS[network].name} />}
            >
              Release deadlines
            </ActionButton>
          </>
        )}
      </QueryView>
    </section>
  )
}

function Meaning(props: { readonly waiting: number; readonly through: number; readonly network: string }) {
  const { waiting, through, network } = props
  return (
    <>
      <p>
        <b>{invoices(waiting)}</b> with a deadline up to <Time at={through} detail /> will expire, and webhooks are
        sent.
      </p>
      <p>
        Some {network} blocks from before then have not been scanned, so some of these invoices may be paid. A payment
        found later that was sent in time still settles its invoice. Later deadlines keep waiting.
      </p>
    </>
  )
}

const invoices = (count: number): string => (count === 1 ? '1 open invoice' : `${showCount(count)} open invoices`)
