import { Button } from '@mantine/core'
import { IconExternalLink } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from 'react-router'
import { api, trpc } from '../../api/trpc.ts'
import { showCount } from '../../format/amounts.ts'
import { revealHidden } from '../../format/foreign.ts'
import { DeedButton } from '../../parts/action/deed-button.tsx'
import { useDeed } from '../../parts/action/use-deed.ts'
import { Card, Facts } from '../../parts/card.tsx'
import { CopyText } from '../../parts/copy-text.tsx'
import { ForeignText } from '../../parts/foreign-text.tsx'
import { LoadError } from '../../parts/load-error.tsx'
import { Page } from '../../parts/page.tsx'
import { PageSkeleton } from '../../parts/page-skeleton.tsx'
import { QrCode, QrDownloads } from '../../parts/qr-code.tsx'
import { Time } from '../../parts/time.tsx'
import { useMay, useScope, useTo } from '../../session/scope.ts'
import type { LinkRow } from '../money/answers.ts'
import { LinkAmount, LinkStatus } from './link-words.tsx'

/** One payment link: its address as text and code, how often it was used, and its end. */
export function LinkPage() {
  const scope = useScope()
  const { id = '' } = useParams()
  const link = useQuery(trpc.paymentLinks.get.queryOptions({ ...scope, id }))
  if (link.data === undefined) {
    return (
      <Page title="Payment link">
        {link.isPending ? (
          <PageSkeleton />
        ) : (
          <LoadError what="this link" error={link.error} onRetry={() => void link.refetch()} />
        )}
      </Page>
    )
  }
  return <Loaded link={link.data} />
}

function Loaded({ link }: { readonly link: LinkRow }) {
  const to = useTo()
  const scope = useScope()
  const may = useMay('support')
  const end = useDeed({
    call: (ids, input: { readonly id: string }) => api.paymentLinks.deactivate.mutate({ ...scope, ...ids, ...input }),
    done: 'The link takes no new payments.',
    refresh: [trpc.paymentLinks.pathFilter()],
  })
  const isActive = link.status === 'active'
  return (
    <Page
      title={revealHidden(link.title)}
      beside={<LinkStatus status={link.status} />}
      actions={
        <>
          <Button
            component="a"
            href={link.url}
            target="_blank"
            rel="noreferrer"
            variant="default"
            leftSection={<IconExternalLink size={16} aria-hidden />}
          >
            Open page
          </Button>
          {isActive ? (
            <DeedButton
              deed={end}
              input={{ id: link.id }}
              variant="default"
              reason="optional"
              refusal={may ? null : 'This needs the role support.'}
              confirm="It takes no new payments. Existing invoices stay payable. It cannot be undone."
            >
              Deactivate
            </DeedButton>
          ) : null}
        </>
      }
    >
      <div className="pm-split">
        <Card title="Link">
          <Facts
            facts={[
              ['Address', <CopyText key="url" text={link.url} what="link" />],
              ['Amount', <LinkAmount key="amount" link={link} />],
              ['Uses', showCount(link.uses)],
              [
                'Description',
                link.description === null ? '–' : <ForeignText key="text">{link.description}</ForeignText>,
              ],
              ...(link.product_id === null
                ? []
                : ([
                    [
                      'Made of',
                      <Link key="product" to={to('products')}>
                        a product
                      </Link>,
                    ],
                  ] as const)),
              ['Created', <Time key="created" at={link.created_at} detail />],
              ...(link.deactivated_at === null
                ? []
                : ([['Ended', <Time key="ended" at={link.deactivated_at} detail />]] as const)),
              ['ID', <CopyText key="id" text={link.id} what="link ID" short />],
            ]}
          />
        </Card>
        <Card title="QR code">
          <div className="pm-stack">
            <QrCode text={link.url} label={`QR code of the payment link ${revealHidden(link.title)}`} size={260} />
            <QrDownloads
              text={link.url}
              name={`${scope.mode === 'test' ? 'test_' : ''}payment-link-${link.id.slice(0, 8)}`}
            />
          </div>
        </Card>
      </div>
    </Page>
  )
}
