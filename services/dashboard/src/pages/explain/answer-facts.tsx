import { Button } from '@mantine/core'
import { IconExternalLink } from '@tabler/icons-react'
import { Link } from 'react-router'
import { Card, Facts } from '../../parts/card.tsx'
import { CopyText } from '../../parts/copy-text.tsx'
import { CryptoAmount } from '../../parts/crypto-amount.tsx'
import { Money } from '../../parts/money.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { Time } from '../../parts/time.tsx'
import { UntrustedText } from '../../parts/untrusted-text.tsx'
import { useTo } from '../../session/scope.ts'
import type { Answer } from '../money/answers.ts'

/** The transfer as stored. */
export function TransferFacts({ transfer }: { readonly transfer: NonNullable<Answer['transfer']> }) {
  return (
    <Card title="Transfer">
      <Facts
        facts={[
          ['Amount', <CryptoAmount key="amount" amount={transfer.amount} symbol={transfer.symbol ?? 'base units'} />],
          ['State', <StatusBadge key="state" of="payment" status={transfer.state} />],
          ['Network', transfer.networkName],
          transfer.fromAddress === null
            ? null
            : ['From', <CopyText key="from" text={transfer.fromAddress} what="sender" short />],
          ['To', <CopyText key="to" text={transfer.toAddress} what="address" />],
          transfer.txHash === null
            ? null
            : ['Transaction', <CopyText key="tx" text={transfer.txHash} what="transaction" short />],
          ['Block', transfer.blockHeight ?? 'not in a block yet'],
          ['Block time', <Time key="block" at={transfer.blockTime} detail />],
          ['First seen', <Time key="seen" at={transfer.firstSeenAt} detail />],
        ]}
      />
      {transfer.explorerUrl === null ? null : (
        <Button
          component="a"
          href={transfer.explorerUrl}
          target="_blank"
          rel="noreferrer"
          variant="default"
          fullWidth
          mt={14}
          leftSection={<IconExternalLink size={16} aria-hidden />}
        >
          Open in block explorer
        </Button>
      )}
    </Card>
  )
}

/** The invoice of the transfer. */
export function InvoiceFacts({ invoice }: { readonly invoice: NonNullable<Answer['invoice']> }) {
  const to = useTo()
  const { coins, orderId } = invoice
  return (
    <Card title={`Invoice #${invoice.number}`}>
      <Facts
        facts={[
          ['Status', <StatusBadge key="status" of="invoice" status={invoice.status} />],
          ['Amount', <Money key="amount" {...invoice.amount} />],
          ...(coins === null
            ? []
            : ([
                ['Amount due', `${coins.due} ${coins.symbol}`],
                ['Network', coins.networkName],
                ['Received', `${coins.received} ${coins.symbol}`],
              ] as const)),
          [
            'Order',
            orderId === null ? (
              '–'
            ) : (
              <UntrustedText key="order" mono>
                {orderId}
              </UntrustedText>
            ),
          ],
          ['Page', <Link key="page" to={to('invoices', invoice.id)}>{`#${invoice.number}`}</Link>],
        ]}
      />
    </Card>
  )
}
