import type { MerchantView } from '#shared/contracts/checkout/invoice-view.ts'
import { Foreign, Say } from '../locales/locale.tsx'

/** How to contact the merchant: a link for mail and web addresses, text for everything else. Nothing without a contact. */
export function Contact({ merchant }: { readonly merchant: MerchantView }) {
  const { contact, name } = merchant
  if (contact === null) return null
  const who = <Foreign text={name} />
  const href = hrefOf(contact)
  if (href === null) {
    return (
      <p class="contact">
        <Say w="contact.at" m={who} a={<Foreign text={contact} />} />
      </p>
    )
  }
  return (
    <a class="button" href={href} rel="noreferrer">
      <span>
        <Say w="contact" m={who} />
      </span>
    </a>
  )
}

/** The contact itself, as a link where it is one; nothing without a contact. */
export function ContactLink({ merchant: { contact } }: { readonly merchant: MerchantView }) {
  if (contact === null) return null
  const href = hrefOf(contact)
  if (href === null) return <Foreign text={contact} />
  return (
    <a href={href} rel="noreferrer">
      <Foreign text={contact} />
    </a>
  )
}

/** Where a text asks the payer to write to the merchant: how, or where to look for it. */
export function ContactHint({ merchant }: { readonly merchant: MerchantView }) {
  const m = <Foreign text={merchant.name} />
  return (
    <p class="contact-hint">
      {merchant.contact === null ? (
        <Say w="contact.none" m={m} />
      ) : (
        <Say w="contact.at" m={m} a={<ContactLink merchant={merchant} />} />
      )}
    </p>
  )
}

function hrefOf(contact: string): string | null {
  if (/^https:\/\/[^\s]+$/.test(contact)) return contact
  if (/^[^\s@<>"?&]+@[^\s@<>"?&]+$/.test(contact)) return `mailto:${contact}`
  return /^\+?[0-9][0-9 ()/-]{4,24}$/.test(contact) ? `tel:${contact.replace(/[^+0-9]/g, '')}` : null
}
