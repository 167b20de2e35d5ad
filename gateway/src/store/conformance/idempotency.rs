//! Laws of keys under which a request is answered once.

use std::sync::Arc;

use super::on_each;
use super::rows::{PROJECT, reservation};
use crate::store::Store;
use crate::store::rows::{Endpoint, IdempotencyEnd, IdempotencyRow, RequestKey, Reservation, ReservationRow};

/// What a wish becomes when it is granted.
fn held(reservation: ReservationRow, fencing_token: i64) -> IdempotencyRow {
    IdempotencyRow { reservation, fencing_token, end: None }
}

fn end() -> IdempotencyEnd {
    IdempotencyEnd { http_status: 200, response_hash: Some("b3:response".to_owned()) }
}

/// The same request, sent by another gateway at another time.
fn again(created_us: i64) -> ReservationRow {
    ReservationRow {
        verdict_id: "v-2".to_owned(),
        lease_owner: "gateway-2".to_owned(),
        lease_until_us: created_us + 100,
        created_us,
        expires_us: created_us + 8_000,
        ..reservation("key")
    }
}

async fn reserve(store: &Arc<dyn Store>, wish: &ReservationRow) -> Reservation {
    store.reserve_idempotency(wish).await.unwrap()
}

#[tokio::test]
async fn one_of_many_gets_the_key() {
    on_each(|store| async move {
        let wishes: Vec<ReservationRow> =
            (0..8).map(|n| ReservationRow { verdict_id: format!("v-{n}"), ..reservation("key") }).collect();
        let reserved = futures::future::join_all(wishes.iter().map(|wish| reserve(&store, wish))).await;
        let (ours, theirs): (Vec<_>, Vec<_>) =
            reserved.into_iter().partition(|reserved| matches!(reserved, Reservation::Ours(_)));
        let [Reservation::Ours(first)] = ours.as_slice() else { panic!("{ours:?}") };
        assert_eq!(first.fencing_token, 1);
        assert_eq!(theirs, vec![Reservation::Theirs(first.clone()); 7]);
    })
    .await;
}

#[tokio::test]
async fn project_endpoint_and_key_tell_requests_apart() {
    on_each(|store| async move {
        let own = reservation("key");
        let of = |change: fn(&mut RequestKey)| {
            let mut wish = own.clone();
            change(&mut wish.request);
            wish
        };
        let others = [
            own.clone(),
            of(|request| request.project = "other".to_owned()),
            of(|request| request.endpoint = Endpoint::DropIn),
            of(|request| request.key = "Key".to_owned()),
        ];
        for wish in others {
            assert_eq!(store.idempotency(&wish.request, 1_000).await.unwrap(), None);
            assert_eq!(reserve(&store, &wish).await, Reservation::Ours(held(wish.clone(), 1)));
            assert_eq!(store.idempotency(&wish.request, 1_000).await.unwrap(), Some(held(wish, 1)));
        }
    })
    .await;
}

#[tokio::test]
async fn a_key_is_taken_over_when_its_lease_ends_and_keeps_its_verdict() {
    on_each(|store| async move {
        let first = reservation("key");
        reserve(&store, &first).await;
        assert_eq!(reserve(&store, &again(1_099)).await, Reservation::Theirs(held(first.clone(), 1)));
        assert!(store.renew_idempotency(&first.request, 1, 1_200).await.unwrap());
        let renewed = ReservationRow { lease_until_us: 1_200, ..first.clone() };
        assert_eq!(reserve(&store, &again(1_199)).await, Reservation::Theirs(held(renewed, 1)));

        let taken = ReservationRow { verdict_id: "v-1".to_owned(), ..again(1_200) };
        assert_eq!(reserve(&store, &again(1_200)).await, Reservation::Ours(held(taken.clone(), 2)));
        // The former owner cannot write any more.
        assert!(!store.renew_idempotency(&first.request, 1, 9_999).await.unwrap());
        assert!(!store.complete_idempotency(&first.request, 1, &end()).await.unwrap());
        assert_eq!(store.idempotency(&first.request, 1_200).await.unwrap(), Some(held(taken, 2)));
    })
    .await;
}

#[tokio::test]
async fn another_body_never_takes_a_key_over() {
    on_each(|store| async move {
        let first = reservation("key");
        reserve(&store, &first).await;
        let other = ReservationRow { body_hash: "b3:other".to_owned(), ..again(5_000) };
        assert_eq!(reserve(&store, &other).await, Reservation::Theirs(held(first, 1)));
    })
    .await;
}

#[tokio::test]
async fn an_answered_key_stays_answered_until_it_expires() {
    on_each(|store| async move {
        let first = reservation("key");
        reserve(&store, &first).await;
        assert!(store.complete_idempotency(&first.request, 1, &end()).await.unwrap());
        let answered = IdempotencyRow { end: Some(end()), ..held(first.clone(), 1) };
        assert_eq!(reserve(&store, &again(8_999)).await, Reservation::Theirs(answered.clone()));
        assert_eq!(store.idempotency(&first.request, 8_999).await.unwrap(), Some(answered));
        assert!(!store.renew_idempotency(&first.request, 1, 9_999).await.unwrap());
        assert!(!store.complete_idempotency(&first.request, 1, &end()).await.unwrap());

        assert_eq!(store.idempotency(&first.request, 9_000).await.unwrap(), None);
        let other = ReservationRow { body_hash: "b3:other".to_owned(), ..again(9_000) };
        assert_eq!(reserve(&store, &other).await, Reservation::Ours(held(other.clone(), 2)));
        assert_eq!(store.idempotency(&first.request, 9_000).await.unwrap(), Some(held(other, 2)));
    })
    .await;
}

#[tokio::test]
async fn a_key_that_was_let_go_is_taken_at_once() {
    on_each(|store| async move {
        let first = reservation("key");
        reserve(&store, &first).await;
        assert!(store.renew_idempotency(&first.request, 1, 0).await.unwrap());
        let Reservation::Ours(taken) = reserve(&store, &again(1_001)).await else { panic!("not free") };
        assert_eq!((taken.fencing_token, taken.reservation.verdict_id.as_str()), (2, "v-1"));
    })
    .await;
}

#[tokio::test]
async fn expired_keys_are_deleted() {
    on_each(|store| async move {
        let of = |key: &str, expires_us| ReservationRow { expires_us, ..reservation(key) };
        for wish in [of("a", 2_000), of("b", 2_001), of("c", 3_000)] {
            reserve(&store, &wish).await;
        }
        assert_eq!(store.delete_expired_idempotency(2_001).await.unwrap(), 2);
        assert_eq!(store.delete_expired_idempotency(2_001).await.unwrap(), 0);
        let kept = RequestKey { project: PROJECT.to_owned(), ..reservation("c").request };
        assert!(store.idempotency(&kept, 1_000).await.unwrap().is_some());
    })
    .await;
}
