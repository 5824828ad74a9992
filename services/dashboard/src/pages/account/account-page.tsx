import { PlaceholderPage } from '../../parts/placeholder-page.tsx'

/** Password and authenticator. */
export function AccountPage() {
  return <PlaceholderPage title="Password and authenticator" />
}
