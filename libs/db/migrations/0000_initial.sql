CREATE TABLE "accounts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"operator_refund_limit_atom" bigint,
	"default_payment_route_id" uuid,
	"execution" text DEFAULT 'workflow' NOT NULL,
	"version" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "api_tokens" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"name" text NOT NULL,
	"role" text NOT NULL,
	"hash" text NOT NULL,
	"hint" text NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"revoked_at" timestamp (3) with time zone,
	"allowed_networks" text[],
	"last_used_at" timestamp (3) with time zone,
	"rolled_to_id" uuid,
	"version" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "api_tokens_hash" UNIQUE("hash")
);
--> statement-breakpoint
CREATE TABLE "attention_items" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"type" text NOT NULL,
	"kind" text NOT NULL,
	"object_id" uuid NOT NULL,
	"reason" text NOT NULL,
	"details" jsonb,
	"actions" text[] NOT NULL,
	"opened_at" timestamp (3) with time zone NOT NULL,
	"resolved_at" timestamp (3) with time zone,
	"resolved_by" text,
	"resolution" text
);
--> statement-breakpoint
CREATE TABLE "commands" (
	"command_id" uuid NOT NULL,
	"object_id" uuid NOT NULL,
	"step" text DEFAULT '' NOT NULL,
	"result" jsonb,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "commands_command_id_object_id_step_pk" PRIMARY KEY("command_id","object_id","step")
);
--> statement-breakpoint
CREATE TABLE "customer_balance_transactions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"customer_id" uuid NOT NULL,
	"currency" text NOT NULL,
	"amount_atom" bigint NOT NULL,
	"ending_balance_amount_atom" bigint NOT NULL,
	"type" text NOT NULL,
	"description" text,
	"invoice_id" uuid,
	"command_id" uuid NOT NULL,
	"version" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "customers" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"email" text NOT NULL,
	"billing_email" text,
	"first_name" text,
	"last_name" text,
	"business_name" text,
	"phone_number" text,
	"notes" text,
	"language" text,
	"address" jsonb NOT NULL,
	"billing_address" jsonb,
	"shipping_addresses" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"invoice_settings" jsonb,
	"default_payment_method_id" uuid,
	"custom_fields" jsonb,
	"metadata" jsonb,
	"deleted_at" timestamp (3) with time zone,
	"version" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "events" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"type" text NOT NULL,
	"kind" text NOT NULL,
	"object_id" uuid NOT NULL,
	"customer_id" uuid,
	"sequence" integer NOT NULL,
	"command_id" uuid NOT NULL,
	"step" text DEFAULT '' NOT NULL,
	"request_id" text,
	"idempotency_key" text,
	"actor" text,
	"clock_time" timestamp (3) with time zone,
	"deliveries_created" integer NOT NULL,
	"head" text NOT NULL,
	"data" text NOT NULL,
	"data_previous" jsonb,
	"created_at" timestamp (3) with time zone NOT NULL,
	"tx_id" "xid8" DEFAULT pg_current_xact_id() NOT NULL,
	CONSTRAINT "events_command" UNIQUE("command_id","step","object_id","type"),
	CONSTRAINT "events_sequence" UNIQUE("object_id","sequence")
);
--> statement-breakpoint
CREATE TABLE "idempotency_keys" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"key" text NOT NULL,
	"fingerprint" text NOT NULL,
	"token_id" uuid NOT NULL,
	"command_id" uuid NOT NULL,
	"object_id" uuid,
	"owner" uuid NOT NULL,
	"heartbeat_at" timestamp (6) with time zone NOT NULL,
	"completed_at" timestamp (3) with time zone,
	"response_status" integer,
	"response_sealed" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "idempotency_keys_key" UNIQUE("account_id","key")
);
--> statement-breakpoint
CREATE TABLE "invoice_items" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"customer_id" uuid NOT NULL,
	"invoice_id" uuid,
	"subscription_id" uuid,
	"subscription_item_id" uuid,
	"price_id" uuid NOT NULL,
	"product_id" uuid NOT NULL,
	"price_type" text NOT NULL,
	"name" text NOT NULL,
	"description" text,
	"quantity" integer NOT NULL,
	"amount_atom" bigint NOT NULL,
	"currency" text NOT NULL,
	"proration" boolean DEFAULT false NOT NULL,
	"period_start" timestamp (3) with time zone NOT NULL,
	"period_end" timestamp (3) with time zone NOT NULL,
	"version" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "invoice_numbers" (
	"account_id" uuid PRIMARY KEY NOT NULL,
	"last" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "invoices" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"customer_id" uuid NOT NULL,
	"subscription_id" uuid,
	"period_key" text,
	"number" integer,
	"status" text NOT NULL,
	"billing_reason" text NOT NULL,
	"collection_method" text NOT NULL,
	"currency" text NOT NULL,
	"total_atom" bigint NOT NULL,
	"applied_balance_atom" bigint DEFAULT 0 NOT NULL,
	"due_atom" bigint NOT NULL,
	"paid_atom" bigint DEFAULT 0 NOT NULL,
	"refunded_atom" bigint DEFAULT 0 NOT NULL,
	"period_start" timestamp (3) with time zone NOT NULL,
	"period_end" timestamp (3) with time zone NOT NULL,
	"due_date" timestamp (3) with time zone NOT NULL,
	"net_d" integer,
	"finalized_at" timestamp (3) with time zone,
	"paid_at" timestamp (3) with time zone,
	"voided_at" timestamp (3) with time zone,
	"paid_out_of_band" boolean DEFAULT false NOT NULL,
	"is_initial_for_trial" boolean DEFAULT false NOT NULL,
	"payment_intent_id" uuid,
	"default_payment_method_id" uuid,
	"latest_failure_message" text,
	"description" text,
	"comments" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"custom_fields" jsonb,
	"metadata" jsonb,
	"version" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "invoices_paid" CHECK (paid_atom <= due_atom and refunded_atom <= paid_atom)
);
--> statement-breakpoint
CREATE TABLE "attempt_evidence" (
	"id" uuid PRIMARY KEY NOT NULL,
	"payment_intent_id" uuid NOT NULL,
	"charge_id" uuid NOT NULL,
	"operation_id" uuid,
	"lease_token" bigint NOT NULL,
	"outcome" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"applied_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "charge_operations" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"payment_intent_id" uuid NOT NULL,
	"charge_id" uuid NOT NULL,
	"type" text NOT NULL,
	"purpose" text NOT NULL,
	"processor_operation_id" text,
	"amount_atom" bigint NOT NULL,
	"status" text NOT NULL,
	"refund_id" uuid,
	"reference" text NOT NULL,
	"first_sent_at" timestamp (3) with time zone,
	"call_by" timestamp (6) with time zone,
	"lookups" integer DEFAULT 0 NOT NULL,
	"next_lookup_at" timestamp (3) with time zone,
	"failure_code" text,
	"failure_message" text,
	"command_id" uuid NOT NULL,
	"version" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "charges" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"payment_intent_id" uuid NOT NULL,
	"customer_id" uuid,
	"invoice_id" uuid,
	"subscription_id" uuid,
	"attempt_number" integer NOT NULL,
	"confirmation" integer NOT NULL,
	"processor_id" uuid NOT NULL,
	"payment_method_id" uuid NOT NULL,
	"amount_atom" bigint NOT NULL,
	"currency" text NOT NULL,
	"status" text NOT NULL,
	"outcome_class" text,
	"reference" text NOT NULL,
	"idempotency_key" text NOT NULL,
	"processor_payment_id" text,
	"decline_code" text,
	"failure_message" text,
	"raw_code" text,
	"raw_message" text,
	"authorized_atom" bigint DEFAULT 0 NOT NULL,
	"captured_atom" bigint DEFAULT 0 NOT NULL,
	"refunded_atom" bigint DEFAULT 0 NOT NULL,
	"voided_at" timestamp (3) with time zone,
	"is_late" boolean DEFAULT false NOT NULL,
	"disputed" boolean DEFAULT false NOT NULL,
	"lease_token" bigint NOT NULL,
	"call_by" timestamp (6) with time zone NOT NULL,
	"first_sent_at" timestamp (3) with time zone,
	"request_sealed" text,
	"lookups" integer DEFAULT 0 NOT NULL,
	"next_lookup_at" timestamp (3) with time zone,
	"sending_closed_at" timestamp (3) with time zone,
	"absent_at" timestamp (3) with time zone,
	"decision" jsonb NOT NULL,
	"redirect_url" text,
	"custom_fields" jsonb,
	"processor_metadata" jsonb,
	"version" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "charges_captured" CHECK (captured_atom <= authorized_atom),
	CONSTRAINT "charges_refunded" CHECK (refunded_atom <= captured_atom and refunded_atom >= 0)
);
--> statement-breakpoint
CREATE TABLE "payment_intents" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"customer_id" uuid,
	"amount_atom" bigint NOT NULL,
	"amount_capturable_atom" bigint DEFAULT 0 NOT NULL,
	"amount_received_atom" bigint DEFAULT 0 NOT NULL,
	"amount_refunded_atom" bigint DEFAULT 0 NOT NULL,
	"currency" text NOT NULL,
	"status" text NOT NULL,
	"capture_method" text DEFAULT 'automatic' NOT NULL,
	"initiator" text NOT NULL,
	"subscription_payment" text,
	"payment_method_id" uuid,
	"payment_route_id" uuid,
	"invoice_id" uuid,
	"subscription_id" uuid,
	"payment_link_id" uuid,
	"reference" text NOT NULL,
	"simulate" jsonb,
	"description" text,
	"custom_fields" jsonb,
	"metadata" jsonb,
	"return_url" text,
	"redirect_url" text,
	"decline_code" text,
	"decline_reason" text,
	"last_charge_id" uuid,
	"attempts" integer DEFAULT 0 NOT NULL,
	"confirmation" integer DEFAULT 0 NOT NULL,
	"decision" jsonb,
	"execution" text DEFAULT 'workflow' NOT NULL,
	"driver" text NOT NULL,
	"lease_owner" text,
	"lease_token" bigint DEFAULT 0 NOT NULL,
	"lease_until" timestamp (6) with time zone,
	"wake_seq" bigint DEFAULT 0 NOT NULL,
	"next_action_at" timestamp (3) with time zone,
	"settled" boolean DEFAULT false NOT NULL,
	"last_refund_at" timestamp (3) with time zone,
	"canceled_at" timestamp (3) with time zone,
	"version" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "payment_intents_amount" CHECK (amount_atom > 0),
	CONSTRAINT "payment_intents_received" CHECK (amount_received_atom <= amount_atom and amount_refunded_atom <= amount_received_atom)
);
--> statement-breakpoint
CREATE TABLE "payment_link_attempts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"payment_link_id" uuid NOT NULL,
	"address_hash" text NOT NULL,
	"method_hash" text NOT NULL,
	"outcome" text NOT NULL,
	"payment_intent_id" uuid NOT NULL,
	"try_number" integer NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "payment_link_attempts_try" UNIQUE("payment_intent_id","try_number")
);
--> statement-breakpoint
CREATE TABLE "payment_link_items" (
	"id" uuid PRIMARY KEY NOT NULL,
	"payment_link_id" uuid NOT NULL,
	"price_id" uuid NOT NULL,
	"quantity" integer NOT NULL,
	"description" text,
	"custom_fields" jsonb,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "payment_links" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"mode" text NOT NULL,
	"active" boolean DEFAULT true NOT NULL,
	"inactive_reason" text,
	"declines_since" timestamp (3) with time zone,
	"token_hash" text NOT NULL,
	"token_sealed" text NOT NULL,
	"currency" text,
	"customer_id" uuid,
	"always_create_new_customer" boolean DEFAULT false NOT NULL,
	"payment_route_id" uuid,
	"success_url" text,
	"checkout_preferences" jsonb,
	"simulate" jsonb,
	"custom_fields" jsonb,
	"metadata" jsonb,
	"trial_end" timestamp (3) with time zone,
	"trial_from_price" boolean,
	"trial_period_days" integer,
	"deleted_at" timestamp (3) with time zone,
	"version" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "payment_links_token" UNIQUE("token_hash")
);
--> statement-breakpoint
CREATE TABLE "payment_method_mappings" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"payment_method_id" uuid NOT NULL,
	"processor_id" uuid NOT NULL,
	"their_payment_method_id" text NOT NULL,
	"network_transaction_id" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "payment_method_mappings_pair" UNIQUE("payment_method_id","processor_id")
);
--> statement-breakpoint
CREATE TABLE "payment_methods" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"customer_id" uuid,
	"status" text DEFAULT 'authorized' NOT NULL,
	"provider" text DEFAULT 'credit_card' NOT NULL,
	"card_brand" text,
	"card_funding" text,
	"card_country" text,
	"card_iin" text,
	"last_four" text,
	"exp_month" integer,
	"exp_year" integer,
	"fingerprint" text,
	"billing_address" jsonb,
	"display_name" text NOT NULL,
	"custom_fields" jsonb,
	"metadata" jsonb,
	"shown_at" timestamp (3) with time zone,
	"version" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "payment_processors" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"name" text NOT NULL,
	"kind" text NOT NULL,
	"settings" jsonb,
	"credentials_sealed" text,
	"is_enabled" boolean DEFAULT true NOT NULL,
	"deleted_at" timestamp (3) with time zone,
	"version" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "payment_route_versions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"route_id" uuid NOT NULL,
	"number" integer NOT NULL,
	"document" jsonb NOT NULL,
	"created_by" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "payment_route_versions_number" UNIQUE("route_id","number")
);
--> statement-breakpoint
CREATE TABLE "payment_routes" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"name" text NOT NULL,
	"live_version" integer,
	"latest_version" integer DEFAULT 0 NOT NULL,
	"deleted_at" timestamp (3) with time zone,
	"version" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "prices" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"product_id" uuid NOT NULL,
	"name" text,
	"internal_description" text,
	"price_type" text NOT NULL,
	"pricing_model" text DEFAULT 'standard' NOT NULL,
	"currency" text NOT NULL,
	"unit_amount_atom" bigint NOT NULL,
	"billing_interval" text,
	"billing_interval_count" integer,
	"trial_period_days" integer DEFAULT 0 NOT NULL,
	"usage_type" text DEFAULT 'licensed' NOT NULL,
	"aggregate_usage" text,
	"transform_quantity_divide_by" double precision DEFAULT 1 NOT NULL,
	"is_active" boolean NOT NULL,
	"is_default" boolean,
	"is_exclusive" boolean DEFAULT false NOT NULL,
	"can_only_be_purchased_with" text[] DEFAULT '{}' NOT NULL,
	"listed_exclusively_for_customers" text[] DEFAULT '{}' NOT NULL,
	"contract_auto_renew" boolean,
	"contract_term_multiple" integer,
	"default_net_d" integer,
	"custom_fields" jsonb,
	"metadata" jsonb,
	"used_at" timestamp (3) with time zone,
	"deleted_at" timestamp (3) with time zone,
	"version" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "prices_amount" CHECK (unit_amount_atom >= 0),
	CONSTRAINT "prices_interval" CHECK ((price_type = 'recurring') = (billing_interval is not null and billing_interval_count >= 1))
);
--> statement-breakpoint
CREATE TABLE "product_families" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"name" text NOT NULL,
	"description" text,
	"hierarchy" text DEFAULT '{}' NOT NULL,
	"products" uuid[] DEFAULT '{}' NOT NULL,
	"deleted_at" timestamp (3) with time zone,
	"version" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "products" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"name" text NOT NULL,
	"description" text,
	"account_sku" text,
	"features" text[] DEFAULT '{}' NOT NULL,
	"unit_label" text,
	"is_active" boolean DEFAULT true NOT NULL,
	"default_price_id" uuid,
	"custom_fields" jsonb,
	"metadata" jsonb,
	"deleted_at" timestamp (3) with time zone,
	"version" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "refunds" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"charge_id" uuid NOT NULL,
	"payment_intent_id" uuid NOT NULL,
	"invoice_id" uuid,
	"customer_id" uuid,
	"amount_atom" bigint NOT NULL,
	"currency" text NOT NULL,
	"reason" text NOT NULL,
	"description" text,
	"status" text NOT NULL,
	"refunded_out_of_band" boolean DEFAULT false NOT NULL,
	"attempt_error_message" text,
	"processor_refund_id" text,
	"keyed" boolean DEFAULT false NOT NULL,
	"version" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "refunds_amount" CHECK (amount_atom > 0)
);
--> statement-breakpoint
CREATE TABLE "subscription_items" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"subscription_id" uuid NOT NULL,
	"price_id" uuid NOT NULL,
	"product_id" uuid NOT NULL,
	"quantity" integer NOT NULL,
	"description" text,
	"custom_fields" jsonb,
	"add_at_period_end" boolean DEFAULT false NOT NULL,
	"drop_at_end" boolean DEFAULT false NOT NULL,
	"removed_at" timestamp (3) with time zone,
	"version" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "subscription_items_quantity" CHECK (quantity >= 1)
);
--> statement-breakpoint
CREATE TABLE "subscriptions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"customer_id" uuid NOT NULL,
	"status" text NOT NULL,
	"billing_status" text,
	"name" text NOT NULL,
	"description" text,
	"currency" text NOT NULL,
	"billing_interval" text NOT NULL,
	"billing_interval_count" integer NOT NULL,
	"anchor_at" timestamp (3) with time zone NOT NULL,
	"period_index" integer DEFAULT 0 NOT NULL,
	"current_period_start" timestamp (3) with time zone NOT NULL,
	"current_period_end" timestamp (3) with time zone NOT NULL,
	"initial_start" timestamp (3) with time zone NOT NULL,
	"starts_at" timestamp (3) with time zone,
	"trial_start" timestamp (3) with time zone,
	"trial_end" timestamp (3) with time zone,
	"missing_payment_method" text DEFAULT 'pause' NOT NULL,
	"trial_will_end_sent_at" timestamp (3) with time zone,
	"collection_method" text NOT NULL,
	"net_d" integer,
	"default_payment_method_id" uuid,
	"payment_route_id" uuid,
	"simulate" jsonb,
	"cancel_at_end" boolean DEFAULT false NOT NULL,
	"cancelled_at" timestamp (3) with time zone,
	"cancellation_details" jsonb,
	"pause_at_end" boolean DEFAULT false NOT NULL,
	"pause_for_cycles" integer,
	"paused_at" timestamp (3) with time zone,
	"resumes_at" timestamp (3) with time zone,
	"kept_time" jsonb,
	"dunning" jsonb,
	"dunning_end" text DEFAULT 'cancel' NOT NULL,
	"charge_at" timestamp (3) with time zone,
	"charging_invoice_id" uuid,
	"charged_method_id" uuid,
	"resuming" boolean DEFAULT false NOT NULL,
	"cancel_options" jsonb,
	"total_billing_cycles" integer,
	"completed_cycles" integer DEFAULT 0 NOT NULL,
	"last_charge_at" timestamp (3) with time zone,
	"next_action_at" timestamp (3) with time zone,
	"custom_fields" jsonb,
	"metadata" jsonb,
	"version" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "subscriptions_status" CHECK (status in ('trialing','active','paused','cancelled')),
	CONSTRAINT "subscriptions_billing_status" CHECK ((status = 'cancelled') = (billing_status is null))
);
--> statement-breakpoint
CREATE TABLE "webhook_attempts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"delivery_id" uuid NOT NULL,
	"endpoint_id" uuid NOT NULL,
	"event_id" uuid NOT NULL,
	"number" integer NOT NULL,
	"manual" boolean DEFAULT false NOT NULL,
	"url" text NOT NULL,
	"started_at" timestamp (3) with time zone NOT NULL,
	"duration_ms" integer NOT NULL,
	"timings" jsonb,
	"address" text,
	"request_headers" jsonb,
	"response_status" integer,
	"response_text" text,
	"error" text
);
--> statement-breakpoint
CREATE TABLE "webhook_deliveries" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"event_id" uuid NOT NULL,
	"endpoint_id" uuid NOT NULL,
	"object_id" uuid NOT NULL,
	"sequence" integer NOT NULL,
	"status" text DEFAULT 'pending' NOT NULL,
	"next_attempt_at" timestamp (6) with time zone,
	"attempts" integer DEFAULT 0 NOT NULL,
	"last_status" integer,
	"last_error" text,
	"finished_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "webhook_deliveries_pair" UNIQUE("event_id","endpoint_id")
);
--> statement-breakpoint
CREATE TABLE "webhook_endpoints" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"url" text NOT NULL,
	"description" text,
	"metadata" jsonb,
	"enabled_events" text[] NOT NULL,
	"status" text DEFAULT 'enabled' NOT NULL,
	"status_reason" text,
	"data_format" text DEFAULT 'object' NOT NULL,
	"ordered" boolean DEFAULT false NOT NULL,
	"drain_epoch" integer DEFAULT 0 NOT NULL,
	"drain_until" timestamp (6) with time zone,
	"wake_sent_at" timestamp (6) with time zone,
	"dispatcher_open" boolean DEFAULT false NOT NULL,
	"consecutive_failures" integer DEFAULT 0 NOT NULL,
	"failing_since" timestamp (3) with time zone,
	"deleted_at" timestamp (3) with time zone,
	"version" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "webhook_secrets" (
	"id" uuid PRIMARY KEY NOT NULL,
	"endpoint_id" uuid NOT NULL,
	"sealed" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "customer_balance_transactions" ADD CONSTRAINT "customer_balance_transactions_customer_id_customers_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."customers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invoice_items" ADD CONSTRAINT "invoice_items_invoice_id_invoices_id_fk" FOREIGN KEY ("invoice_id") REFERENCES "public"."invoices"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invoices" ADD CONSTRAINT "invoices_customer_id_customers_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."customers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "charge_operations" ADD CONSTRAINT "charge_operations_charge_id_charges_id_fk" FOREIGN KEY ("charge_id") REFERENCES "public"."charges"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "charges" ADD CONSTRAINT "charges_payment_intent_id_payment_intents_id_fk" FOREIGN KEY ("payment_intent_id") REFERENCES "public"."payment_intents"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "payment_link_items" ADD CONSTRAINT "payment_link_items_payment_link_id_payment_links_id_fk" FOREIGN KEY ("payment_link_id") REFERENCES "public"."payment_links"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "payment_method_mappings" ADD CONSTRAINT "payment_method_mappings_payment_method_id_payment_methods_id_fk" FOREIGN KEY ("payment_method_id") REFERENCES "public"."payment_methods"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "payment_route_versions" ADD CONSTRAINT "payment_route_versions_route_id_payment_routes_id_fk" FOREIGN KEY ("route_id") REFERENCES "public"."payment_routes"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "prices" ADD CONSTRAINT "prices_product_id_products_id_fk" FOREIGN KEY ("product_id") REFERENCES "public"."products"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "refunds" ADD CONSTRAINT "refunds_charge_id_charges_id_fk" FOREIGN KEY ("charge_id") REFERENCES "public"."charges"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "subscription_items" ADD CONSTRAINT "subscription_items_subscription_id_subscriptions_id_fk" FOREIGN KEY ("subscription_id") REFERENCES "public"."subscriptions"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "subscription_items" ADD CONSTRAINT "subscription_items_price_id_prices_id_fk" FOREIGN KEY ("price_id") REFERENCES "public"."prices"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "subscriptions" ADD CONSTRAINT "subscriptions_customer_id_customers_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."customers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_secrets" ADD CONSTRAINT "webhook_secrets_endpoint_id_webhook_endpoints_id_fk" FOREIGN KEY ("endpoint_id") REFERENCES "public"."webhook_endpoints"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "api_tokens_account" ON "api_tokens" USING btree ("account_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "attention_items_open" ON "attention_items" USING btree ("type","object_id") WHERE resolved_at is null;--> statement-breakpoint
CREATE INDEX "attention_items_account" ON "attention_items" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "customer_balance_transactions_customer" ON "customer_balance_transactions" USING btree ("customer_id","currency","id");--> statement-breakpoint
CREATE INDEX "customers_account" ON "customers" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "customers_email" ON "customers" USING btree ("account_id","email");--> statement-breakpoint
CREATE INDEX "events_account_position" ON "events" USING btree ("account_id","tx_id","id");--> statement-breakpoint
CREATE INDEX "events_account_created" ON "events" USING btree ("account_id","created_at","id");--> statement-breakpoint
CREATE INDEX "events_account_type" ON "events" USING btree ("account_id","type","created_at");--> statement-breakpoint
CREATE INDEX "idempotency_keys_age" ON "idempotency_keys" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "invoice_items_invoice" ON "invoice_items" USING btree ("invoice_id","id");--> statement-breakpoint
CREATE INDEX "invoice_items_account" ON "invoice_items" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "invoices_account" ON "invoices" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "invoices_subscription" ON "invoices" USING btree ("subscription_id","id");--> statement-breakpoint
CREATE INDEX "invoices_customer" ON "invoices" USING btree ("customer_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "invoices_period" ON "invoices" USING btree ("subscription_id","period_key");--> statement-breakpoint
CREATE UNIQUE INDEX "invoices_number" ON "invoices" USING btree ("account_id","number");--> statement-breakpoint
CREATE INDEX "attempt_evidence_open" ON "attempt_evidence" USING btree ("payment_intent_id") WHERE applied_at is null;--> statement-breakpoint
CREATE UNIQUE INDEX "charge_operations_pending" ON "charge_operations" USING btree ("charge_id") WHERE status = 'pending';--> statement-breakpoint
CREATE UNIQUE INDEX "charge_operations_reference" ON "charge_operations" USING btree ("charge_id","reference");--> statement-breakpoint
CREATE INDEX "charge_operations_intent" ON "charge_operations" USING btree ("payment_intent_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "charges_attempt" ON "charges" USING btree ("payment_intent_id","attempt_number");--> statement-breakpoint
CREATE UNIQUE INDEX "charges_unresolved" ON "charges" USING btree ("payment_intent_id") WHERE status = 'pending';--> statement-breakpoint
CREATE UNIQUE INDEX "charges_success" ON "charges" USING btree ("payment_intent_id") WHERE status = 'succeeded' and voided_at is null and not is_late;--> statement-breakpoint
CREATE UNIQUE INDEX "charges_reference" ON "charges" USING btree ("processor_id","reference");--> statement-breakpoint
CREATE INDEX "charges_account" ON "charges" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "charges_method" ON "charges" USING btree ("payment_method_id","created_at");--> statement-breakpoint
CREATE INDEX "payment_intents_account" ON "payment_intents" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "payment_intents_customer" ON "payment_intents" USING btree ("customer_id","id");--> statement-breakpoint
CREATE INDEX "payment_intents_driver" ON "payment_intents" USING btree ("id") WHERE driver = 'api' and not settled;--> statement-breakpoint
CREATE INDEX "payment_intents_due" ON "payment_intents" USING btree ("next_action_at") WHERE not settled;--> statement-breakpoint
CREATE UNIQUE INDEX "payment_intents_invoice" ON "payment_intents" USING btree ("invoice_id") WHERE status <> 'canceled';--> statement-breakpoint
CREATE UNIQUE INDEX "payment_intents_reference" ON "payment_intents" USING btree ("account_id","reference");--> statement-breakpoint
CREATE INDEX "payment_link_attempts_link" ON "payment_link_attempts" USING btree ("payment_link_id","created_at");--> statement-breakpoint
CREATE INDEX "payment_link_attempts_address" ON "payment_link_attempts" USING btree ("address_hash","created_at");--> statement-breakpoint
CREATE INDEX "payment_link_attempts_method" ON "payment_link_attempts" USING btree ("account_id","method_hash","created_at");--> statement-breakpoint
CREATE INDEX "payment_link_items_link" ON "payment_link_items" USING btree ("payment_link_id","id");--> statement-breakpoint
CREATE INDEX "payment_links_account" ON "payment_links" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "payment_methods_account" ON "payment_methods" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "payment_methods_customer" ON "payment_methods" USING btree ("customer_id","id");--> statement-breakpoint
CREATE INDEX "payment_methods_hidden" ON "payment_methods" USING btree ("created_at") WHERE shown_at is null;--> statement-breakpoint
CREATE INDEX "payment_processors_account" ON "payment_processors" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "payment_routes_account" ON "payment_routes" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "prices_account" ON "prices" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "prices_product" ON "prices" USING btree ("product_id","id");--> statement-breakpoint
CREATE INDEX "product_families_account" ON "product_families" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "products_account" ON "products" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "refunds_account" ON "refunds" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "refunds_charge" ON "refunds" USING btree ("charge_id","id");--> statement-breakpoint
CREATE INDEX "subscription_items_subscription" ON "subscription_items" USING btree ("subscription_id","id");--> statement-breakpoint
CREATE INDEX "subscriptions_account" ON "subscriptions" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "subscriptions_customer" ON "subscriptions" USING btree ("customer_id","id");--> statement-breakpoint
CREATE INDEX "subscriptions_money" ON "subscriptions" USING btree ("id") WHERE charging_invoice_id is not null or dunning is not null or resuming or billing_status in ('past_due', 'incomplete', 'unpaid');--> statement-breakpoint
CREATE INDEX "subscriptions_due" ON "subscriptions" USING btree ("next_action_at") WHERE status <> 'cancelled';--> statement-breakpoint
CREATE INDEX "webhook_attempts_delivery" ON "webhook_attempts" USING btree ("delivery_id","number");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_due" ON "webhook_deliveries" USING btree ("endpoint_id","next_attempt_at","id") WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX "webhook_deliveries_account" ON "webhook_deliveries" USING btree ("account_id","created_at","id");--> statement-breakpoint
CREATE INDEX "webhook_endpoints_account" ON "webhook_endpoints" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "webhook_secrets_endpoint" ON "webhook_secrets" USING btree ("endpoint_id","created_at");