import { useTo } from '../../session/scope.ts'

/** The three sections of the webhooks page, as tabs with their own URLs. */
export function useWebhookTabs(current: 'endpoints' | 'deliveries' | 'events', endpoints?: number) {
  const to = useTo()
  return [
    {
      label: 'Endpoints',
      to: to('webhooks/endpoints'),
      current: current === 'endpoints',
      count: endpoints === undefined ? undefined : String(endpoints),
    },
    { label: 'Deliveries', to: to('webhooks/deliveries'), current: current === 'deliveries' },
    { label: 'Events', to: to('webhooks/events'), current: current === 'events' },
  ]
}
