export interface Words {
  title: string;
  text: string;
}

const declined: Words = {
  title: 'Your card was declined',
  text: 'The bank that issued it did not approve the payment. Try another card, or ask your bank.',
};

const failed: Words = {
  title: 'The payment could not be made',
  text: 'This was not the fault of your card. Try again in a few minutes.',
};

/** Only what the payer can act on; the rest stays with "declined", so that the page tells a card tester nothing. */
const words: Record<string, Words> = {
  insufficient_funds: { title: 'Your card was declined', text: 'There is not enough money available on this card. Try another card.' },
  expired_card: { title: 'Your card has expired', text: 'Check the expiry date, or try another card.' },
  incorrect_cvc: { title: 'The security code is wrong', text: 'Check the code on your card and enter the card again.' },
  authentication_required: { title: 'The payment was not confirmed', text: 'Your bank wants you to confirm this payment. Try again, or use another card.' },
  authentication_failed: { title: 'The payment was not confirmed', text: 'The confirmation with your bank did not succeed. Try again, or use another card.' },
  currency_not_supported: { title: 'Your card was declined', text: 'This card cannot be charged in this currency. Try another card.' },
  velocity_exceeded: { title: 'Your card was declined', text: 'This card was used too often in a short time. Try another card, or wait a while.' },
  issuer_unavailable: failed,
  try_again_later: failed,
  payment_method_not_supported: failed,
  processing_error: failed,
  misconfigured: failed,
  processor_rate_limited: failed,
  connection_failed: failed,
  no_processor_available: failed,
  charging_stopped: { title: 'Payments are paused', text: 'Your card was not charged. Try again later.' },
};

/** What a normalised decline code means to the person who pays. */
export function declineWords(code: string | null): Words {
  return (code !== null && Object.hasOwn(words, code) ? words[code] : undefined) ?? declined;
}
