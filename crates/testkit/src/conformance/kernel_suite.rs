//! The kernel's part of the list of all behaviours. The rest is in `suite`.

/// The part of [`conformance_suite!`](crate::conformance_suite) that the kernel needs, which the in-memory store
/// passes as well.
#[macro_export]
macro_rules! kernel_suite {
    ($make:ident) => {
        $crate::conformance_tests! { $make
            approvals {
                a_question_is_opened_by_a_commit_and_closed_by_its_answer_once,
                an_answer_edits_where_it_puts_other_arguments_in_place,
                what_is_not_asked_any_more_is_closed_and_what_was_answered_stays,
                pages_of_the_inbox_visit_each_once_oldest_first,
                another_tenant_neither_sees_nor_closes_a_question,
            }
            attempts {
                an_attempt_is_recorded_once,
                an_attempt_keeps_what_it_was_called_with,
                other_arguments_under_the_same_key_are_a_conflict,
                an_attempt_tells_what_a_commit_tells,
            }
            audit {
                the_chain_is_whole_and_per_tenant,
                parallel_events_stand_in_one_line,
                acts_are_audited_where_they_happen,
                the_beginning_of_a_chain_is_removed_and_the_rest_is_whole,
                events_as_young_as_what_is_open_or_on_hold_stay,
                a_chain_whose_beginning_went_without_an_export_is_found,
            }
            blobs {
                bytes_come_back_under_their_hash,
                what_was_not_stored_is_not_found,
                parallel_stores_of_the_same_bytes_agree,
            }
            budgets {
                a_page_of_budgets_stands_as_each_of_them_does,
                a_reservation_whose_answer_was_lost_is_made_once,
                refused_calls_are_counted_as_failed_and_cost_nothing,
                a_budget_is_stored_changed_and_removed,
                what_is_reserved_is_promised_until_it_is_settled_once,
                a_hundred_calls_at_once_never_pass_a_budget_for_ten,
                users_trees_and_tenants_pay_for_themselves,
                a_months_budget_counts_its_days_and_a_day_begins_anew,
                settlements_ride_with_the_next_reservation_and_stand_when_it_is_refused,
                calls_that_are_reserved_together_are_judged_one_after_the_other,
                what_its_owner_left_behind_is_settled_at_its_estimate,
                usage_is_added_up_by_day_model_and_user,
                another_tenant_neither_settles_nor_sees_a_reservation,
            }
            callbacks {
                a_callback_ends_the_wait,
                the_same_body_again_is_a_duplicate,
                another_body_is_a_conflict_and_audited,
                an_early_callback_is_kept,
                a_late_callback_changes_nothing,
                a_late_callback_is_there_when_a_failed_task_is_tried_again,
                fifty_parallel_callbacks_are_one,
                two_delegations_of_a_task_are_told_apart,
                a_callback_for_an_unknown_task_is_not_found,
            }
            children {
                a_child_comes_with_the_commit,
                child_end_signals_parent_in_the_same_commit,
                a_parent_at_work_hears_at_its_next_commit,
                a_parent_that_has_ended_stays_ended,
                a_waiting_child_leaves_no_signal,
                a_parent_that_has_failed_finds_the_childs_end_when_it_is_tried_again,
                a_failed_child_is_reopened_by_its_parents_commit,
            }
            claims {
                claim_takes_expired_and_due_only,
                longest_due_is_claimed_first,
                a_claim_is_no_larger_than_asked,
                a_tenant_that_floods_is_not_in_front_of_the_others,
                who_holds_fewer_slots_comes_first,
                a_tenant_gets_no_more_than_its_share,
                eight_workers_never_claim_the_same_task,
                a_claim_keeps_the_status_and_raises_the_epoch,
                the_first_claim_starts_a_task,
                claims_are_of_all_tenants,
            }
            commits {
                journal_pages,
                a_place_in_the_journal_is_taken_once,
                a_refused_commit_writes_nothing,
                progress_keeps_the_lease,
                an_end_clears_lease_and_waits,
                usage_adds_up_over_the_tree,
                parallel_commits_of_many_tasks_all_hold,
            }
            idempotency {
                a_key_is_taken_then_answered,
                a_key_without_an_answer_keeps_its_seed_for_whoever_takes_it_again,
                a_key_that_is_looked_at_is_not_taken,
                a_key_with_another_body_is_told,
                a_key_given_free_is_new_again,
                a_key_that_was_taken_again_or_answered_is_not_given_free,
                an_answer_is_forgotten_after_its_life,
                principals_routes_and_tenants_do_not_share_keys,
                of_a_hundred_at_once_one_is_the_first_and_all_have_its_seed,
            }
            identities {
                a_tenant_comes_with_its_user_and_key,
                a_name_and_a_slug_are_taken_once,
                tenants_are_listed_oldest_first,
                an_address_is_taken_once_in_a_tenant,
                roles_are_replaced,
                a_key_is_revoked_at_once,
                a_key_falls_with_every_key_that_it_was_made_with,
                who_made_a_user_or_a_key_is_kept,
                a_key_belongs_to_a_user_and_its_hash_is_taken_once,
                a_key_never_grants_more_than_its_user_has,
            }
            isolation {
                another_tenant_reads_nothing,
                another_tenant_changes_nothing,
                a_lease_forged_for_another_tenant_is_refused,
                two_tenants_keep_records_of_the_same_key_apart,
            }
            jobs {
                a_job_is_claimed_when_it_is_due,
                one_dedupe_key_is_one_job,
                a_retry_comes_at_its_time,
                a_job_that_is_put_off_keeps_its_tries,
                a_job_that_a_clock_ahead_has_put_off_is_due,
                a_dead_job_rests,
                an_expired_lease_counts_as_a_try_and_after_the_last_one_the_job_is_wound_up,
                a_lease_is_prolonged_by_its_holder_only,
                a_job_comes_with_the_commit_once,
                jobs_are_shared_out_among_tenants,
                eight_workers_never_claim_the_same_job,
                take_over_makes_leased_jobs_claimable,
            }
            leases {
                stale_epoch_is_refused,
                an_expired_lease_that_nobody_took_still_commits,
                a_lease_given_back_is_gone,
                an_expired_lease_counts_as_a_recovery,
                a_task_given_back_is_no_recovery,
                a_lease_given_back_by_a_stop_is_due_at_once_and_no_recovery,
                what_runs_is_not_taken_although_its_lease_is_over,
                heartbeat_tells_held_and_lost,
                a_heartbeat_prolongs_the_lease,
                heartbeat_and_commit_tell_of_cancel_pause_and_signals,
                take_over_makes_leased_claimable,
                what_a_clock_ahead_has_queued_is_due,
                what_a_clock_ahead_lets_wait_waits_no_longer,
                a_store_with_a_clock_tells_the_time,
                what_was_due_before_the_clock_was_set_back_is_due,
            }
            nouns {
                a_plan_is_stored_and_retired_at_the_version_that_was_read,
                of_ten_who_store_the_same_version_by_a_commit_one_does,
                another_task_is_steered_by_a_commit_as_it_stands,
            }
            outbox {
                outbox_row_and_its_job_come_with_the_commit,
                a_message_that_came_to_its_end_is_sent_again_as_often_as_somebody_wants,
                a_message_moves_only_from_where_it_is,
                a_dispatch_goes_only_as_long_as_its_step_waits_for_it,
                the_dispatch_of_a_failed_task_rests_until_it_is_tried_again,
                pages_of_the_outbox_visit_each_once_newest_first,
                what_is_open_is_counted_over_all_tenants,
            }
            probe {
                the_first_task_that_may_be_claimed_is_the_oldest,
                the_oldest_question_is_that_of_any_tenant,
                a_delegated_task_is_as_old_as_its_last_delegation,
                the_oldest_message_is_one_that_is_still_to_leave,
            }
            permissions {
                a_policy_is_said_changed_and_taken_back,
                rules_follow_the_roles_at_once,
                a_setting_takes_the_place_of_the_one_before,
                what_one_tenant_says_is_nothing_to_another,
                a_setting_that_cannot_be_read_harms_its_own_tool_only,
            }
            plans {
                a_plan_is_read_back_as_it_was_written,
                versions_count_up_and_the_newest_is_active,
                the_audit_of_a_plan_names_its_version,
                a_version_is_written_once,
                after_the_last_version_there_is_no_next_one,
                a_plan_is_taken_out_of_use_and_brought_back,
                active_plans_of_all_tenants_are_checked_at_start,
                a_tenant_uses_so_many_plans_and_so_many_bytes_of_them,
            }
            rates {
                a_window_slides,
                clocks_that_differ_never_fill_a_window_twice,
                a_clock_that_is_set_back_leaves_no_key_stuck,
                a_place_is_taken_under_all_rules_or_under_none,
                a_thousand_calls_at_the_edge_are_never_over_and_never_stuck,
            }
            records {
                a_record_is_found_by_key_id_and_lookup,
                a_record_is_found_by_a_value_that_is_longer_than_an_index_takes,
                record_expectation_mismatch_writes_nothing,
                of_twenty_who_expect_nothing_one_writes,
                unique_lookup_is_enforced,
                two_new_records_of_one_commit_may_not_share_a_unique_lookup,
                lookups_of_the_same_name_are_replaced,
                merge_modes,
                the_version_grows_only_when_something_changed,
                links_name_the_record_that_exists,
                pages_of_records_visit_each_once,
                a_page_of_large_records_ends_before_its_limit,
            }
            releases {
                release_without_due_waits_for_a_signal,
                release_with_due_goes_on_by_itself,
                release_with_unseen_signal_is_due_at_once,
                release_after_a_cancel_is_due_at_once,
                a_release_writes_what_the_task_waits_for,
            }
            repeats {
                a_commit_that_was_written_is_answered_and_written_no_second_time,
                a_commit_that_was_not_written_is_written_by_its_repeat,
                a_repeat_is_known_after_others_have_gone_on,
                a_repeat_of_what_was_not_written_is_fenced_when_somebody_else_holds_the_task,
                a_lease_given_back_without_rows_is_known_as_given_back,
                a_repeat_is_refused_like_the_commit_that_it_repeats,
            }
            retention {
                ended_jobs_are_removed_and_open_ones_stay,
                messages_with_an_end_are_removed_and_open_ones_stay,
                what_is_on_hold_is_never_removed,
                tenants_have_times_of_their_own,
                a_large_removal_is_many_small_ones,
                expired_idempotency_keys_are_removed_and_live_ones_stay,
            }
            retention_tasks {
                a_finished_tree_goes_whole_with_all_that_is_its_own,
                a_tree_that_is_not_over_stays_whole,
                what_was_billed_this_month_stays_until_the_next,
                a_task_on_hold_keeps_its_tree_until_it_is_released,
                a_message_on_its_way_keeps_its_tree,
                a_removal_goes_on_behind_what_it_may_not_touch,
                a_task_is_tried_again_or_removed_and_nothing_between,
                files_go_when_nothing_names_them_any_more,
                a_file_that_is_stored_again_counts_as_new,
            }
            reviews {
                a_wait_is_answered_once_of_fifty,
                an_answer_binds_to_its_wait,
                an_unknown_task_is_not_found,
                a_second_wait_can_be_answered_while_the_first_is_taken_in,
                a_wait_that_is_over_takes_no_answer,
                the_same_step_may_ask_again,
            }
            steering {
                cancel_makes_an_unleased_task_due,
                cancel_leaves_a_leased_task_to_its_holder,
                cancel_ends_a_pause,
                paused_is_not_claimed,
                pausing_twice_is_a_conflict,
                an_end_ends_a_pause,
                what_has_ended_is_not_steered,
                an_unknown_task_is_not_steered,
                only_what_failed_is_reopened,
            }
            submissions {
                a_task_is_read_back_as_it_was_given,
                a_submission_may_claim_at_once,
                same_key_is_submitted_once,
                same_key_with_another_body_is_told,
                a_duplicate_is_told_after_the_task_has_ended,
                a_key_of_the_api_lives_for_a_day,
                a_key_of_a_message_lives_as_long_as_its_task,
                the_same_key_of_another_source_or_tenant_is_another_task,
                a_hundred_parallel_submissions_make_one_task,
                an_id_is_taken_once,
                attachments_keep_their_order,
                files_begin_at_one,
                a_frozen_plan_comes_with_the_task,
                fork_rows_come_with_the_submission,
            }
            tasks {
                pages_of_tasks_visit_each_once_newest_first,
                a_list_carries_what_fits_into_a_line,
                a_page_that_is_just_full_is_the_last,
                filters_hold_together,
                tasks_are_counted_by_status_over_all_tenants,
            }
            unreadable {
                a_task_that_cannot_be_read_keeps_none_from_being_claimed,
                a_task_that_cannot_be_read_is_listed_cancelled_and_ended,
                a_plan_that_cannot_be_read_is_told_and_its_task_is_there,
                a_row_of_the_journal_that_cannot_be_read_stands_in_its_place,
                a_signal_that_cannot_be_read_stands_in_its_place,
                a_question_that_cannot_be_read_is_listed_among_the_others,
                a_job_that_cannot_be_read_keeps_none_from_being_claimed,
                messages_records_and_audit_events_that_cannot_be_read_are_listed_among_the_others,
                what_cannot_be_read_is_not_written_over,
                rows_that_cannot_be_read_are_found,
            }
            webhooks {
                an_end_is_told_to_who_subscribed,
                an_error_is_told_without_what_is_secret,
                every_kind_of_end_and_a_review_has_its_event,
                webhooks_are_listed_and_removed,
            }
        }

        mod model {
            #[::tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn any_walk_ends_as_in_the_model() {
                $crate::conformance::model::any_walk_ends_as_in_the_model(super::$make).await;
            }
        }
    };
}
