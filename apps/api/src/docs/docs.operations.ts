import type { ErrorCode } from '../../../../libs/errors/catalogue.js';

export interface OperationWords {
  summary: string;
  text?: string;
  /** Codes beyond those that every call may answer: token, role, validation, not found, rate, outage. */
  codes?: ErrorCode[];
}

const words = (summary: string, text?: string, codes?: ErrorCode[]): OperationWords => ({ summary, text, codes });

const byCursor = 'Newest first, `limit` at a time; `cursor` takes the `next_cursor` of the page before.';
const byNumber = 'By numbered pages, with filters, sorting and `total_objects`.';
const settles = 'Answers within 10 s: with the final state, or with `processing` when the outcome is not known yet; it then comes by GET, event and webhook.';
const itemMoney =
  'What was billed for the rest of the period is given back to the second, and what is new is billed for it: as `pending_invoice_items` that the next invoice takes in (`create_prorations`), on an invoice that is charged now (`always_invoice`; a failure leaves the change and begins dunning), or not at all (`none`). A negative total becomes the customer\'s balance; an amount below what every enabled connection can charge (`settings.minimum_amounts` by currency, for `stripe` its published table) is carried to the next invoice. In a trial nothing was paid, so nothing is prorated; while paused only `none` is taken. Voiding an invoice lets the lines that it had taken in wait again. When the subscription ends, its waiting lines become a last invoice: credit for paid time goes to the balance, what is owed stays open and is not charged. `is_preview` answers the same and stores nothing.';

/** What the reference says of each operation, by operation id. */
export const operations: Record<string, OperationWords> = {
  Accounts_get: words('Retrieve the account'),
  Accounts_update: words('Update the account', 'Fields that are left out stay. `default_payment_route_id` is used where a payment names no route. `dunning_policy` holds for every subscription without one of its own, from the next dunning run on: a run that is under way keeps the policy that it began with. `billing_settings.invoice_upcoming_days` holds from each subscription\'s next period on.'),

  ApiTokens_create: words('Create a token', 'The token itself is in this answer only; a keyed hash of it is stored.'),
  ApiTokens_list: words('List tokens', byCursor),
  ApiTokens_listNumbered: words('Search tokens', byNumber),
  ApiTokens_get: words('Retrieve a token'),
  ApiTokens_update: words('Update a token', undefined, ['last_admin', 'conflict']),
  ApiTokens_revoke: words('Revoke a token', 'Takes effect at once.', ['last_admin']),
  ApiTokens_roll: words('Roll a token', 'A new secret for the same token; the old one may live on for a while.', ['conflict']),

  Attention_browse: words('List what waits for a person', `Exceptions, outcomes that are unknown for over an hour, failing connections, stopped and overdue payments, failed refunds, differences to a processor: each with its age, its reason and the calls that help. ${byCursor}`),
  Attention_get: words('Retrieve an attention item'),
  Attention_resolve: words('Resolve an attention item', 'Does what the item names, for example reopens a payment link that paused itself. For a payment without outcome `action` says what to do; the processor is asked first, and a wish that contradicts it is a 409. `mark_failed` lets the payment be charged again: if money was taken after all that is a second charge, so it needs `confirm: true`. `look_again` leaves the item open where nothing was learned; `details.last_look` says what was seen.', ['conflict']),

  Emails_browse: words('List e-mails to customers', `What was sent, waits, failed, or was not sent and why. ${byCursor}`),
  Emails_get: words('Retrieve an e-mail'),
  Emails_preview: words('Preview an e-mail', 'Subject, HTML and text as they would be sent now, and whether they would be. Nothing is sent or stored.'),
  Emails_resend: words('Send an e-mail again', 'A new e-mail of the same kind, rendered anew, to the customer\'s address of today. Where no SMTP server is configured, or the customer is on a test clock, it is `not_sent` with the reason.', ['conflict']),

  ChargeStops_start: words('Stop new charges', 'Of the whole account, of one connection or of one price. When the answer comes no attempt begins there any more. A payment whose customer is present is refused with 409 `charging_stopped`; others wait, `processing`, and go on when the stop is lifted. A stopped connection is left out by the routes, so that others can take its payments. Lookups, callbacks, captures, voids and refunds go on.', ['conflict']),
  ChargeStops_browse: words('List stops', byCursor),
  ChargeStops_list: words('Search stops', byNumber),
  ChargeStops_get: words('Retrieve a stop'),
  ChargeStops_lift: words('Lift a stop', 'Payments that waited begin again, at most `restart_per_second` of them; new payments begin at once. `drained_at` says when nothing waited any more.', ['conflict']),

  Callbacks_receive: words('Take what a processor tells', 'The address that a processor posts to. Its signature is the proof, so no token is needed; the answer is 200 as soon as it is stored, and the same event again changes nothing.', ['callback_refused']),

  Charges_page: words('List charges', byCursor),
  Charges_list: words('Search charges', byNumber),
  Charges_get: words('Retrieve a charge', 'A charge is one attempt of a payment at one processor.'),
  Charges_update: words('Update a charge', 'Custom fields only; money and outcome are the processor\'s.'),

  Customers_create: words('Create a customer'),
  Customers_browse: words('List customers', byCursor),
  Customers_list: words('Search customers', byNumber),
  Customers_get: words('Retrieve a customer'),
  Customers_update: words('Update a customer', 'Fields that are left out stay. A new default payment method pays what is past due.'),
  Customers_delete: words('Delete a customer', 'The row stays for the records, marked as deleted.', ['conflict']),
  BalanceTransactions_create: words('Adjust a customer\'s credit', 'A positive amount pays the next invoices in its currency; a negative one takes back at most what is there.'),
  BalanceTransactions_list: words('List what changed a customer\'s credit', 'All of it, newest first.'),
  BalanceTransactions_get: words('Retrieve a balance transaction'),
  CustomerPaymentMethods_list: words('List a customer\'s payment methods', byNumber),
  ValidSubscriptions_valid: words('List a customer\'s entitled subscriptions', 'Those that entitle the customer to the product now.'),
  SubscriptionItems_create: words('Add a subscription item', `Its price has the currency and the billing interval of the others. ${itemMoney}`, ['invalid_state_transition']),
  SubscriptionItems_update: words('Change a subscription item', `Price, quantity, or whether it ends with the period. Another billing interval begins a period now, gives unused time back and bills a whole period; with \`none\` it begins with the next period: the item then ends (\`drop_at_end\`) and one with the new price begins (\`add_at_period_end\`). ${itemMoney}`, ['invalid_state_transition']),
  SubscriptionItems_remove: words('Delete a subscription item', `With the period (\`drop_at_end\`, the default), or now. The last item stays: cancel the subscription instead. ${itemMoney}`, ['conflict', 'invalid_state_transition']),
  ValidSubscriptions_items: words('Search subscription items', byNumber),
  ValidSubscriptions_item: words('Retrieve a subscription item'),

  Disputes_create: words('Report a dispute by hand', 'For one that the processor has not told yet; its callbacks find it by `their_dispute_id`. One that is known already is answered as it is.', ['conflict']),
  Disputes_page: words('List disputes', byCursor),
  Disputes_list: words('Search disputes', byNumber),
  Disputes_get: words('Retrieve a dispute', 'Open, won or lost, as the processor tells it. Its charge is `disputed` while it is open or lost.'),

  Errors_list: words('List error codes', 'The whole catalogue of `code`s with their status and whether a retry may help.'),
  Errors_get: words('Retrieve an error code', 'The page that the `type` of a problem leads to.'),
  Health_health: words('Tell whether the process lives'),
  Health_ready: words('Tell whether it can take traffic', '503 while the database or Temporal cannot be reached, and while it stops.'),

  Events_list: words('List events', byCursor),
  Events_listNumbered: words('List events by type', byNumber),
  Events_search: words('Search events', byNumber),
  Events_get: words('Retrieve an event', 'Each change of an object is one event; `sequence` orders the events of one object.'),
  Events_triggerWebhook: words('Send an event again', 'To one endpoint or to all that match.', ['conflict']),

  InvoiceItems_create: words('Add a line to the next invoice', 'It waits for the customer\'s next invoice, made by hand or by a subscription, in its currency.'),
  InvoiceItems_list: words('Search invoice items', byNumber),
  InvoiceItems_get: words('Retrieve an invoice item'),
  InvoiceItems_delete: words('Delete an invoice item', 'Of a draft, whose total follows, or one that is pending.', ['invalid_state_transition']),

  Invoices_browse: words('List invoices', byCursor),
  Invoices_list: words('Search invoices', byNumber),
  Invoices_get: words('Retrieve an invoice'),
  Invoices_create: words('Create an invoice by hand', 'Of one-time prices, of the lines that wait for the customer\'s next invoice, or both; a draft unless it is finalised at once. A finalised one is charged at once with the customer absent, or waits for its due date where it is sent; a decline answers 200 with `past_due`. It never changes a subscription\'s standing.', ['payment_method_required']),
  Invoices_update: words('Update an invoice', 'A draft takes all fields. Later the description and the custom fields still change, the payment method while money is owed.', ['invalid_state_transition']),
  Invoices_finalize: words('Finalise a draft', 'It takes the next number of the account, without gaps. The customer\'s credit is used first; a negative total becomes credit; nothing due is paid at once; an amount below what every enabled connection can charge is carried to the next invoice, as those of subscriptions are, and this one is paid. A draft of a subscription is what was billed while it was `unpaid`, when no service was due: finalising it charges nothing, it is then paid by hand. Drafts that are left once the subscription is paid again stand on the attention list (`drafts_left`) until each is paid or voided.', ['invalid_state_transition', 'payment_method_required']),
  Invoices_comment: words('Comment on an invoice', 'Comments stay with it, whatever its state.', ['conflict']),
  Invoices_public: words('Retrieve an invoice by its public token', 'For the customer who holds its address; drafts are not found.'),
  Invoices_previewNext: words('Preview a subscription\'s next invoice', 'Nothing is stored.', ['conflict']),
  Invoices_pay: words('Pay an invoice', `Charges what remains to a payment method. ${settles}`, ['payment_in_flight', 'payment_method_required', 'invalid_state_transition']),
  Invoices_void: words('Void an invoice', 'It is never collected; credit that it used returns to the customer.', ['payment_in_flight', 'invalid_state_transition']),
  Invoices_writeOff: words('Mark an invoice as uncollectible', undefined, ['payment_in_flight', 'invalid_state_transition']),

  PaymentIntents_create: words('Create a payment', `With \`confirm\` it is sent through its route at once. ${settles} A decline is a 402 with the payment's id; the payment can be confirmed again.`, ['no_processor_available', 'payment_method_required']),
  PaymentIntents_page: words('List payments', byCursor),
  PaymentIntents_list: words('Search payments', byNumber),
  PaymentIntents_get: words('Retrieve a payment'),
  PaymentIntents_update: words('Update a payment', 'Custom fields, metadata and description; fields that are left out stay.'),
  PaymentIntents_confirm: words('Confirm a payment', settles, ['no_processor_available', 'payment_method_required', 'invalid_state_transition', 'payment_in_flight']),
  PaymentIntents_capture: words('Capture an authorised payment', 'All of it, or a part; the rest is released.', ['invalid_state_transition', 'payment_in_flight']),
  PaymentIntents_cancel: words('Cancel a payment', 'Releases what is authorised. What was captured is not cancelled but refunded; the payment of an invoice ends by voiding the invoice.', ['invalid_state_transition', 'payment_in_flight', 'conflict']),
  PaymentIntents_decisions: words('Explain a payment\'s routing', 'One entry per attempt: the rule, the candidates, what was skipped and why, in plain words.'),

  PaymentLinks_create: words('Create a payment link', 'Answers the `url` of a page on which a person pays.'),
  PaymentLinks_page: words('List payment links', byCursor),
  PaymentLinks_list: words('Search payment links', byNumber),
  PaymentLinks_get: words('Retrieve a payment link'),
  PaymentLinks_getPublic: words('Retrieve what a link\'s page shows', 'Needs no token: the secret part of the link\'s address is the proof.'),
  PaymentLinks_update: words('Update a payment link', 'A link that paused itself is reopened by resolving its attention item.', ['conflict']),

  PaymentMethods_create: words('Create a payment method', 'Tokenises and authorises: in staging `card`, a test card of the simulator; with any other processor `processor_id` and the `token` that its own form in the browser returned. A refused card creates nothing and answers 402 with the decline.', ['processor_unavailable', 'unknown_test_card', 'conflict']),
  PaymentMethods_authorize: words('Authorise a payment method again', 'Without charging it; its status stays. A refusal is a 402 with the decline.', ['processor_unavailable', 'invalid_state_transition', 'conflict']),
  PaymentMethods_page: words('List payment methods', byCursor),
  PaymentMethods_list: words('Search payment methods', byNumber),
  PaymentMethods_get: words('Retrieve a payment method'),
  PaymentMethods_attach: words('Attach a payment method to a customer', undefined, ['invalid_state_transition']),
  PaymentMethods_detach: words('Detach a payment method', 'For good. Subscriptions that used it fall back to the customer\'s default.', ['invalid_state_transition']),
  PaymentMethods_importMapping: words('Import a processor\'s own token', 'For a method that another processor already knows.', ['conflict']),

  PaymentProcessors_create: words('Create a connection to a processor', 'Credentials are stored encrypted and never returned. Kind `http` is a provider of your own that keeps our published contract (libs/processors/http): `settings.base_url`, `credentials.secret` of at least 32 characters, and what it promises less than the contract in `settings`.'),
  PaymentProcessors_rotate: words('Rotate a connection\'s credentials', 'Replaces all of them at once. Callbacks signed with a replaced secret are accepted until the overlap ends.', ['version_conflict']),
  PaymentProcessors_disable: words('Disable a connection', 'No new charge goes there; captures, refunds, lookups and callbacks of its charges go on.'),
  PaymentProcessors_enable: words('Enable a connection'),
  PaymentProcessors_check: words('Check a connection', 'Asks the processor, read only, whether it can be reached and accepts the credentials. A failing processor is `ok: false` with the reason, not an error.'),
  PaymentProcessors_page: words('List connections', byCursor),
  PaymentProcessors_list: words('Search connections', byNumber),
  PaymentProcessors_get: words('Retrieve a connection', '`health` tells how its calls went in the last five minutes. `degraded`: too many failed or took too long, so payments go elsewhere but for a few that find out whether it works again; look-ups, captures and refunds go on.'),
  PaymentProcessors_update: words('Update a connection', 'A disabled connection takes no new payments; what it holds is still settled with it.'),
  PaymentProcessors_delete: words('Delete a connection'),

  PaymentRoutes_create: words('Create a route', 'Version 1 is live at once.'),
  PaymentRoutes_page: words('List routes', byCursor),
  PaymentRoutes_list: words('Search routes', byNumber),
  PaymentRoutes_get: words('Retrieve a route'),
  PaymentRoutes_update: words('Update a route', 'Fields that are left out stay; a document makes a new version.'),
  PaymentRoutes_delete: words('Delete a route'),
  PaymentRoutes_evaluate: words('Try a route', 'Decides for an imagined payment; nothing is stored or sent.'),
  PaymentRoutes_publish: words('Make a version of a route live'),
  PaymentRoutes_versions: words('List a route\'s versions'),

  Prices_create: words('Create a price', 'One-time, or recurring by day, week, month or year × count. Amounts in the currency\'s smallest unit.'),
  Prices_browse: words('List prices', byCursor),
  Prices_list: words('Search prices', byNumber),
  Prices_get: words('Retrieve a price'),
  Prices_update: words('Update a price', 'The money of a price that was used never changes.', ['conflict']),
  Prices_delete: words('Delete a price'),
  Prices_findByAmount: words('Find prices by amount'),
  Prices_addOns: words('List a price\'s add-ons'),
  Products_create: words('Create a product'),
  Products_browse: words('List products', byCursor),
  Products_list: words('Search products', byNumber),
  Products_get: words('Retrieve a product'),
  Products_update: words('Update a product'),
  Products_delete: words('Delete a product'),
  ProductFamily_create: words('Create a product family'),
  ProductFamily_browse: words('List product families', byCursor),
  ProductFamily_list: words('Search product families', byNumber),
  ProductFamily_get: words('Retrieve a product family'),
  ProductFamily_update: words('Update a product family'),
  ProductFamily_delete: words('Delete a product family'),

  Reconciliations_start: words('Reconcile a connection', 'Compares the processor\'s payments and refunds of the range with ours, in the background. What may simply be learned is handed in and heals; the rest is put on the attention list. A processor that cannot list its payments answers `not_supported`. Every connection is compared once a night over 72 hours.', ['conflict']),
  Reconciliations_browse: words('List a connection\'s reconciliations', byCursor),

  Refunds_create: words('Refund a payment', 'All that is left, or a part; several up to what was captured.', ['refund_exceeds_captured', 'possible_duplicate', 'conflict']),
  Refunds_page: words('List refunds', byCursor),
  Refunds_list: words('Search refunds', byNumber),
  Refunds_get: words('Retrieve a refund'),

  Subscriptions_create: words('Create a subscription', `\`is_preview\` tells what would be charged and stores nothing. \`dunning_policy\` (ADMIN) says when failed payments are tried again, what follows in the end, and when invoices are reminded of; without one the account\'s holds. A first payment that is not made is tried once more after 6 h and ends at 23 h, whatever the policy. ${settles}`, ['payment_method_required']),
  Subscriptions_browse: words('List subscriptions', byCursor),
  Subscriptions_list: words('Search subscriptions', byNumber),
  Subscriptions_get: words('Retrieve a subscription', '`dunning` shows the run under way: how often it failed, when it is tried again, what blocks retries, and when which final action follows. Each step is an event: `customer.subscription.dunning_started`, `dunning_retry_scheduled`, `dunning_blocked`, `dunning_recovered`, `dunning_ended`. `invoice.upcoming` tells of a renewal some days before, as an event of the subscription: its `data` is the invoice as it would be drawn then, with an empty `id`, because none is stored.'),
  Subscriptions_update: words('Update a subscription', `A new payment method pays what is past due. A new \`dunning_policy\` (ADMIN) holds from the next dunning run on: one that is under way keeps the policy that it began with. Items change together with the rest, or nothing does. ${itemMoney}`, ['invalid_state_transition']),
  Subscriptions_cancel: words('Cancel a subscription', 'Now or at the period\'s end; unused time is credited or refunded as asked. `is_preview` stores nothing.', ['invalid_state_transition']),
  Subscriptions_remove: words('Cancel a subscription (DELETE)', 'The same as `cancel`, with its fields in the query or the body.', ['invalid_state_transition']),
  Subscriptions_endTrial: words('End a trial now', settles, ['invalid_state_transition', 'payment_method_required']),
  Subscriptions_pause: words('Pause a subscription', 'Now or at the period\'s end, until a time, for cycles, or until it is resumed.', ['invalid_state_transition']),
  Subscriptions_resume: words('Resume a subscription', settles, ['invalid_state_transition', 'payment_method_required']),
  Subscriptions_refresh: words('Look at a subscription again', 'Does what is due now; it would be done without this call too.'),

  TestClocks_create: words('Create a test clock', 'Staging only. Customers that are created with its `test_clock_id` live on its time, and so do their subscriptions: trials, periods, pauses, dunning, scheme limits. Calls to processors, deliveries and idempotency stay on real time. A payment that no invoice asks for happens on real time too.', ['staging_only']),
  TestClocks_browse: words('List test clocks', byCursor, ['staging_only']),
  TestClocks_list: words('Search test clocks', byNumber, ['staging_only']),
  TestClocks_get: words('Retrieve a test clock', '`progress` tells how far an advance has come and whose payment it waits for.', ['staging_only']),
  TestClocks_advance: words('Advance a test clock', 'Forward only, at any distance. Answers at once with `advancing`; everything that falls due then happens in order, each at its own time and each payment with its outcome before the next, until the clock is `ready` at the target. Lookups of an unknown outcome follow without waiting for their times; while an outcome is not known the clock stays `advancing`. Meanwhile its subscriptions take no commands (409 `test_clock_advancing`). After `internal_failure` it may be advanced again. Events `test_clock.advancing`, `test_clock.ready`, `test_clock.internal_failure`; every event on the clock carries its time as `clock_time`.', ['staging_only', 'test_clock_advancing']),
  TestClocks_delete: words('Delete a test clock', 'Also while it advances. Its subscriptions are cancelled without money (open invoices are void, nothing is credited or refunded) and its customers are deleted, shortly after the answer; all of them stay readable for the records.', ['staging_only']),

  WebhookDeliveries_list: words('List deliveries', byCursor),
  WebhookDeliveries_get: words('Retrieve a delivery', 'One event on its way to one endpoint.'),
  WebhookDeliveries_attempts: words('List a delivery\'s attempts', 'Status, duration and an excerpt of each answer.'),
  WebhookDeliveries_cancel: words('Cancel a delivery', undefined, ['invalid_state_transition']),
  WebhookDeliveries_resend: words('Deliver again', undefined, ['conflict']),
  WebhookAttempts_list: words('List webhook attempts', `Each post with its timings, address, headers and answer, across deliveries. ${byCursor}`),
  WebhookEndpoints_create: words('Create a webhook endpoint', 'Signed with `signature-digest` and with the Standard Webhooks headers.'),
  WebhookEndpoints_list: words('List webhook endpoints', byCursor),
  WebhookEndpoints_listNumbered: words('Search webhook endpoints', byNumber),
  WebhookEndpoints_get: words('Retrieve a webhook endpoint'),
  WebhookEndpoints_update: words('Update a webhook endpoint'),
  WebhookEndpoints_delete: words('Delete a webhook endpoint', 'Its open deliveries end with it.'),
  WebhookEndpoints_disable: words('Disable a webhook endpoint', 'Events of the time in between are not delivered.'),
  WebhookEndpoints_enable: words('Enable a webhook endpoint'),
  WebhookEndpoints_pause: words('Pause deliveries', 'They are kept and follow when it is resumed.', ['invalid_state_transition']),
  WebhookEndpoints_resume: words('Resume deliveries', undefined, ['invalid_state_transition']),
  WebhookEndpoints_revealSecret: words('Reveal the signing secret'),
  WebhookEndpoints_rotateSecret: words('Rotate the signing secret', 'The old one signs too until it expires.', ['conflict']),
  WebhookEndpoints_test: words('Send a test event'),
};
