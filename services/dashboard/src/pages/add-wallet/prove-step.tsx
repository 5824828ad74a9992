import { Button } from '@mantine/core'
import { Link } from 'react-router'
import { NETWORKS } from '#shared/domain/networks.ts'
import { Card, Facts, Note } from '../../parts/card.tsx'
import { CopyText } from '../../parts/copy-text.tsx'
import { Time } from '../../parts/time.tsx'
import { useScope, useTo } from '../../session/scope.ts'
import { KeyUse } from '../wallets/key-use.tsx'
import type { AddedWallet } from './entry.ts'

/** The wallet is added; a small payment to it tests it. */
export function ProveStep({ added }: { readonly added: AddedWallet }) {
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
                'You already had this wallet. Nothing changed.'
              ) : startsAt === null ? (
                'Wallet added. It can receive payments within seconds.'
              ) : (
                <>
                  Wallet added. It becomes active <Time at={startsAt} />. We emailed all owners; they can cancel it
                  until then. Its addresses are already monitored.
                </>
              )}
            </p>
          </Note>
        </div>
        <KeyUse standing={wallet.key} />
        <h2>Send a small test payment</h2>
        <p>
          {scope.mode === 'live'
            ? 'Create an invoice for a small amount and pay it from another wallet. When it says Paid and your own wallet shows the money, everything works end to end.'
            : 'Create a test invoice and pay it in one click, or from a wallet on the test network.'}
        </p>
        <Facts
          facts={[
            ['Networks', wallet.networks.map((network) => NETWORKS[network].name).join(', ')],
            firstAddresses[0] === undefined
              ? null
              : ['First address', <CopyText key="a" text={firstAddresses[0]} what="first address" />],
          ]}
        />
        <div className="pm-row pm-end">
          <Button component={Link} to={to('wallets')} variant="default">
            All wallets
          </Button>
          <Button component={Link} to={to('invoices/new')}>
            Create invoice{' '}
          </Button>
        </div>
      </div>
    </Card>
  )
}
