import { Button } from '@mantine/core'
import { Link } from 'react-router'
import { NETWORKS } from '#shared/domain/networks.ts'
import { Card, Facts, Note } from '../../parts/card.tsx'
import { CopyText } from '../../parts/copy-text.tsx'
import { Time } from '../../parts/time.tsx'
import { useScope, useTo } from '../../session/scope.ts'
import { KeyUse } from '../wallets/key-use.tsx'
import type { Added } from './entered.ts'

/** The wallet is added; a small payment to it is the proof. */
export function ProveStep({ added }: { readonly added: Added }) {
  const scope = useScope()
  const to = useTo()
  const { wallet, startsAt, firstAddresses, changed } = added
  return (
    <Card>
      <div className="pm-stack">
        <div role="status">
          <Note tone={startsAt === null ? 'paid' : 'pending'}>
            <p>
              {!changed ? (
                'You had this wallet already; nothing changed.'
              ) : startsAt === null ? (
                'Added. Payers can be sent to it as soon as its addresses are watched, usually within seconds.'
              ) : (
                <>
                  Added. It starts <Time at={startsAt} />; all owners were told by e-mail and can cancel it until then.
                  Its addresses are watched already.
                </>
              )}
            </p>
          </Note>
        </div>
        <KeyUse standing={wallet.key} />
        <h2>Prove it with a small payment</h2>
        <p>
          {scope.mode === 'live'
            ? 'Create an invoice over a small amount and pay it from another wallet. When it says Paid and your own wallet shows the money, the way is proved from end to end.'
            : 'Create a test invoice and pay it with one click, or from a wallet on the test network.'}
        </p>
        <Facts
          facts={[
            ['Networks', wallet.networks.map((network) => NETWORKS[network].name).join(', ')],
            ...(firstAddresses[0] === undefined
              ? []
              : ([['First address', <CopyText key="a" text={firstAddresses[0]} what="first address" />]] as const)),
          ]}
        />
        <div className="pm-row pm-end">
          <Button component={Link} to={to('wallets')} variant="default">
            All wallets
          </Button>
          <Button component={Link} to={to('invoices/new')}>
            Create an invoice
          </Button>
        </div>
      </div>
    </Card>
  )
}
